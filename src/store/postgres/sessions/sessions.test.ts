import { test } from 'node:test'
import { tryOwnerless } from '../../contract/sessions/ownerless-session.ts'
import { onFreshStores } from '../../contract/world.ts'
import { connectAdmin, openIn } from '../postgres.fixture.ts'

let where = { url: '', schema: '' }
const inWorld = onFreshStores(openIn({ place: (place) => (where = place) }))

test(
  'a session from before sessions had owners is claimed by its project, if it serves only that project',
  inWorld(async (world) => {
    const admin = await connectAdmin(where.url)
    try {
      await tryOwnerless(world, async (session) => {
        const disown = `UPDATE ${where.schema}.session SET owner = NULL, identity = NULL WHERE id = $1`
        await admin.query(disown, [session])
      })
    } finally {
      await admin.end()
    }
  }),
)
