import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVirtualClock } from '../../../test/support/virtual-clock.ts'
import type { ClockEvent } from '../../core/trusted-clock.ts'
import { createStoreClock } from '../../server/cluster/store-clock.ts'
import { HOUR_MS, NODE_TTL_MS, only } from '../contract/fixture.ts'
import { onFreshStores } from '../contract/world.ts'
import { connectAdmin, openIn } from './postgres.fixture.ts'

let url = ''
/** No time is injected: the database's clock is used. */
const inWorld = onFreshStores(
  openIn({ now: undefined as never, place: (where) => void ({ url } = where) }),
)
const WALL = 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now'

test(
  'statements use the clock of the database only while it is near what the node expects, and heartbeats return it',
  inWorld(async ({ store, ...world }) => {
    const admin = await connectAdmin(url)
    try {
      const wall = async () => (await admin.query<{ now: number }>(WALL)).rows[0]!.now
      const created = async () => {
        const run = world.newRun()
        await world.submit(run)
        return (await world.find(run.id)).createdAt
      }
      const heartbeat = () => store.heartbeat({ node: world.node, ttlMs: NODE_TTL_MS, idMark: 0 })
      const before = await wall()
      store.expectClock(() => before)
      const near = await created()
      assert.ok(near >= before && near <= (await wall()), 'a clock that is near is believed')

      for (const byMs of [HOUR_MS, -HOUR_MS]) {
        const expected = before + byMs
        store.expectClock(() => expected)
        assert.equal(await created(), expected)
        const dueAt = expected + 1_000
        await world.submit(world.newRun({ dueAt }))
        const { promoted } = await store.promote({ positions: [world.mint()] })
        assert.equal(promoted, 0, 'nothing is due by a clock that has jumped')
        // The node keeps the expected time: the database's clock is off by an hour.
        const events: ClockEvent[] = []
        const storeClock = createStoreClock({
          clock: createVirtualClock(),
          onEvent: (event) => events.push(event),
        })
        storeClock.start(expected, 0, { newestAt: null, agreedMs: null })
        const { now } = await heartbeat()
        assert.ok(now >= before && now <= (await wall()))
        storeClock.observe(now, 0)
        assert.equal(only(events).kind, 'held')
        assert.deepEqual([storeClock.mayFire(), storeClock.now()], [false, expected])
      }
    } finally {
      await admin.end()
    }
  }),
)
