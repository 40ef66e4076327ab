import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { only } from '../../contract/fixture.ts'
import { commandFor, putNew, toRun } from '../../contract/schedules/schedule-fixture.ts'
import { onFreshStores } from '../../contract/world.ts'
import { connectAdmin, openIn } from '../postgres.fixture.ts'
import { openPostgresStore } from '../store.ts'

let where = { url: '', schema: '' }
const inWorld = onFreshStores(openIn({ place: ({ url, schema }) => (where = { url, schema }) }))
const LATER = Number.MAX_SAFE_INTEGER
const CLOCK = 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now'

test(
  'the remaining time is measured at the commit, even if the batch waits for a connection, and is never too small',
  inWorld(async (world) => {
    const store = await openPostgresStore(where)
    const admin = await connectAdmin(where.url)
    const storeNow = async () => (await admin.query<{ now: number }>(CLOCK)).rows[0]!.now
    const valid = { validFrom: 0, validUntil: LATER }
    const asked = { node: world.node, ...valid, aheadTo: null }
    try {
      const stuck = await putNew(world, { next: { nominalAt: LATER, checkAt: LATER } })
      // It has to check this the first time, and remembers it from then on.
      await store.fire({ ...asked, commands: [commandFor(world, stuck)] })
      const at = (await storeNow()) + 800
      const schedule = await putNew(world, { next: { nominalAt: at, checkAt: at } })
      const settled = [toRun(world, at, { reservation: world.reservation(7) })]
      const commands = [commandFor(world, schedule, { settled })]
      await admin.query('BEGIN')
      const next = `${where.schema}.schedule_next`
      await admin.query(`SELECT 1 FROM ${next} WHERE schedule_id = $1 FOR UPDATE`, [stuck.id])
      const firing = store.fire({ ...asked, aheadTo: at, commands })
      await new Promise((resolve) => setImmediate(resolve))
      const { id, version } = stuck
      const waiting = store.failSchedule({ id, version, error: 'stuck', checkAt: at })
      let isOver = false
      const watched = waiting.then(() => (isOver = true))
      const { started, aheadMs } = await firing
      const untilMono = performance.now() + aheadMs
      assert.deepEqual([started.length, isOver], [1, false])
      assert.ok(aheadMs < 800, `${aheadMs}`)
      await waitFor(() => performance.now() >= untilMono, { what: 'the instant', intervalMs: 1 })
      const then = await storeNow()
      assert.ok(then >= at, `${then - at}`)
      await admin.query('ROLLBACK')
      await watched
      assert.equal(only(await store.findSchedules([id])).error, 'stuck')
    } finally {
      await admin.end()
      await store.close()
    }
  }),
)
