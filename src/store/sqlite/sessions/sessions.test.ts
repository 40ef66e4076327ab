import { test } from 'node:test'
import { tryOwnerless } from '../../contract/sessions/ownerless-session.ts'
import { openEngine, createStoreOnEngine } from '../store.ts'

test('a session from before sessions had owners is claimed by its project, if it serves only that project', async () => {
  const engine = openEngine({ path: ':memory:' })
  const disown = engine.raw.prepare('UPDATE session SET owner = NULL, identity = NULL WHERE id = ?')
  await tryOwnerless({ store: createStoreOnEngine(engine), node: 1 }, async (session) => {
    disown.run(session)
  })
  engine.close()
})
