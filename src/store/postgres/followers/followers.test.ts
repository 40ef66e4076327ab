import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { auditOf } from '../../contract/schedules/schedule-fixture.ts'
import { onFreshStores } from '../../contract/world.ts'
import type { Store } from '../../port.ts'
import { connectAdmin, openIn } from '../postgres.fixture.ts'
import { openPostgresStore } from '../store.ts'

const WAITING = `
  SELECT count(*)::int FROM pg_stat_activity
   WHERE wait_event_type = 'Lock' AND datname = current_database()`

let where = { url: '', schema: '' }
const inWorld = onFreshStores(openIn({ place: (place) => (where = place) }))

test(
  'of two nodes that close a cycle of jobs at the same instant, one is refused',
  inWorld(async (world) => {
    const audit = auditOf(world, 'job.put')
    const put = (store: Store, name: string, source: string) =>
      store.putJob({
        projectId: world.project,
        name,
        definition: '{}',
        expect: null,
        audit,
        follows: [{ source, cause: source, wants: 'ok' }],
      })
    const other = await openPostgresStore({ ...where, now: world.clock.now })
    const admin = await connectAdmin(where.url)
    try {
      await admin.query('BEGIN')
      await admin.query(`SELECT FROM ${where.schema}.project FOR UPDATE`)
      const puts = [put(world.store, 'a', 'b'), put(other, 'b', 'a')]
      await waitFor(async () => (await admin.query(WAITING)).rows[0].count === 2, {
        what: 'both to wait for the project',
      })
      await admin.query('COMMIT')
      const kinds = (await Promise.all(puts)).map(({ kind }) => kind)
      assert.deepEqual(kinds.toSorted(), ['cycle', 'put'])
    } finally {
      await admin.end()
      await other.close()
    }
  }),
)
