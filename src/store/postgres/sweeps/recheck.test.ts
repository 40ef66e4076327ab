import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onFreshStores, type StoreWorld } from '../../contract/world.ts'
import { connectAdmin, openIn, untilLockWait } from '../postgres.fixture.ts'

let where = { url: '', schema: '' }
const inWorld = onFreshStores(openIn({ place: (place) => (where = place) }))

const sweep = ({ store }: StoreWorld) => store.recheck({ limit: 10, recheckMs: 30_000 })

/** One run holds a gate, and two wait at it, of which the first is overdue. */
async function prepare(world: StoreWorld) {
  const gates = [await world.gate('door', 1)]
  const holder = await world.start({ gates })
  const first = world.newRun({ gates })
  await world.submit(first)
  world.clock.advance(60_000)
  const second = world.newRun({ gates })
  await world.submit(second)
  return { holder, first, second }
}

test(
  'a sweep that waits for a gate does not let others overtake the runs it rechecks',
  inWorld(async (world) => {
    const { holder, first, second } = await prepare(world)
    const admin = await connectAdmin(where.url)
    try {
      await admin.query('BEGIN')
      await admin.query(`SELECT FROM ${where.schema}.gate FOR UPDATE`)
      const ending = world.end(holder)
      await untilLockWait(admin, 1, 'the tick to wait for the gate')
      const sweeping = sweep(world)
      await untilLockWait(admin, 2, 'the sweep to wait behind it')
      await admin.query('COMMIT')
      await Promise.all([ending, sweeping])
      const states = [await world.stateOf(first.id), await world.stateOf(second.id)]
      assert.deepEqual(states, ['ready', 'blocked'])
    } finally {
      await admin.end()
    }
  }),
)

test(
  'a sweep does not wait for a run at a gate that another transaction holds, and finds it again',
  inWorld(async (world) => {
    const { first } = await prepare(world)
    const admin = await connectAdmin(where.url)
    const recheckAt = async () => {
      const sql = `SELECT recheck_at::float8 AS at FROM ${where.schema}.blocked WHERE run_id = $1`
      return (await admin.query<{ at: number }>(sql, [first.id])).rows[0]!.at
    }
    try {
      const before = await recheckAt()
      await admin.query('BEGIN')
      const row = `SELECT FROM ${where.schema}.blocked WHERE run_id = $1 FOR UPDATE`
      await admin.query(row, [first.id])
      assert.deepEqual((await sweep(world)).lanes, [])
      await admin.query('COMMIT')
      assert.equal(await recheckAt(), before)
      await sweep(world)
      assert.equal(await recheckAt(), world.clock.now() + 30_000)
    } finally {
      await admin.end()
    }
  }),
)

test(
  'two sweeps do not wait for each other over a run that starts after others',
  inWorld(async (world) => {
    const needed = await world.start()
    const run = world.newRun({ after: [{ runId: needed.runId, wants: 'ok' }] })
    await world.submit(run)
    await world.end(needed)
    world.clock.advance(60_000)
    const admin = await connectAdmin(where.url)
    try {
      await admin.query('BEGIN')
      await admin.query(`SELECT FROM ${where.schema}.blocked FOR UPDATE`)
      const { lanes, more } = await world.store.recheck({ limit: 1, recheckMs: 30_000 })
      assert.deepEqual([lanes, more], [[], false])
      await admin.query('COMMIT')
      assert.deepEqual((await sweep(world)).lanes, [world.lane])
    } finally {
      await admin.end()
    }
  }),
)

test(
  'a run that a sweep sends to a gate another transaction holds is found by the next sweep',
  inWorld(async (world) => {
    const gates = [await world.gate('first', 1), await world.gate('second', 1)]
    const needed = await world.start()
    const run = world.newRun({ gates, after: [{ runId: needed.runId, wants: 'ok' }] })
    await world.submit(run)
    await world.end(needed)
    world.clock.advance(60_000)
    const admin = await connectAdmin(where.url)
    try {
      await admin.query('BEGIN')
      await admin.query(`SELECT FROM ${where.schema}.gate WHERE id = $1 FOR UPDATE`, [gates[1]])
      assert.deepEqual((await sweep(world)).lanes, [])
      await admin.query('COMMIT')
      world.clock.advance(1_000)
      assert.deepEqual((await sweep(world)).lanes, [world.lane])
    } finally {
      await admin.end()
    }
  }),
)
