import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onFreshStores } from '../../contract/world.ts'
import { connectAdmin, openIn } from '../postgres.fixture.ts'

let where = { url: '', schema: '' }
const inWorld = onFreshStores(openIn({ place: (place) => (where = place) }))

test(
  'the sweep corrects a gate that counts runs that do not exist, and admits again',
  inWorld(async (world) => {
    const gate = await world.gate('door', 2)
    const [holder, run] = [world.newRun({ gates: [gate] }), world.newRun({ gates: [gate] })]
    await world.submit(holder)
    const admin = await connectAdmin(where.url)
    try {
      await admin.query(`UPDATE ${where.schema}.gate SET held = 5`)
      assert.deepEqual((await world.submit(run))[0], { kind: 'gated' })
      world.clock.advance(60_000)
      const { miscounted, lanes } = await world.store.recheck({ limit: 10, recheckMs: 1_000 })
      assert.deepEqual([miscounted, lanes], [[gate], [world.lane]])
      const { rows } = await admin.query(`SELECT held FROM ${where.schema}.gate`)
      assert.deepEqual(rows, [{ held: 2 }])
    } finally {
      await admin.end()
    }
  }),
)
