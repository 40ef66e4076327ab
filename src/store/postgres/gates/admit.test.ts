import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onFreshStores } from '../../contract/world.ts'
import { connectAdmin, openIn } from '../postgres.fixture.ts'

let where = { url: '', schema: '' }
const inWorld = onFreshStores(openIn({ place: (place) => (where = place) }))

test(
  'a run sent to a gate that another transaction holds is rechecked by the next sweep',
  inWorld(async (world) => {
    const [first, second] = [await world.gate('first', 1), await world.gate('second', 1)]
    const holder = await world.start({ gates: [first] })
    const run = world.newRun({ gates: [first, second] })
    await world.submit(run)
    const admin = await connectAdmin(where.url)
    try {
      await admin.query('BEGIN')
      await admin.query(`SELECT FROM ${where.schema}.gate WHERE id = $1 FOR UPDATE`, [second])
      await world.end(holder)
      // The sweep has already read the runs that wait there.
      await admin.query('COMMIT')
      assert.equal(await world.stateOf(run.id), 'blocked')
      world.clock.advance(1_000)
      const { lanes, miscounted } = await world.store.recheck({ limit: 10, recheckMs: 30_000 })
      assert.deepEqual([lanes, miscounted], [[world.lane], []])
      assert.equal(await world.stateOf(run.id), 'ready')
    } finally {
      await admin.end()
    }
  }),
)
