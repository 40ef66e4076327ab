import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { auditOf } from '../../contract/schedules/schedule-fixture.ts'
import { onFreshStores } from '../../contract/world.ts'
import type { Store } from '../../port.ts'
import { connectAdmin, openIn } from '../postgres.fixture.ts'
import { openPostgresStore } from '../store.ts'

let where = { url: '', schema: '' }
const inWorld = onFreshStores(openIn({ place: (place) => (where = place) }))

const WAITING = `
  SELECT count(*)::int AS count FROM pg_stat_activity
   WHERE wait_event_type = 'Lock' AND datname = current_database()`

test(
  'a node that waited for another to define the same job sees that definition',
  inWorld(async (world) => {
    const asked = { projectId: world.project, name: 'tidy-inbox', expect: null }
    const audit = auditOf(world, 'job.put')
    const put = (store: Store, definition: string) => store.putJob({ ...asked, definition, audit })
    await put(world.store, 'first')
    const other = await openPostgresStore({ ...where, now: world.clock.now })
    const admin = await connectAdmin(where.url)
    try {
      await admin.query('BEGIN')
      await admin.query(`SELECT FROM ${where.schema}.job FOR UPDATE`)
      const puts = [put(world.store, 'second'), put(other, 'third')]
      await waitFor(async () => (await admin.query(WAITING)).rows[0].count === 2, {
        what: 'both to wait for the job',
      })
      await admin.query('COMMIT')
      const results = await Promise.all(puts)
      const versions = results.map((result) => ('version' in result ? result.version : 0))
      assert.deepEqual(
        versions.toSorted((a, b) => a - b),
        [2, 3],
      )
    } finally {
      await admin.end()
      await other.close()
    }
  }),
)
