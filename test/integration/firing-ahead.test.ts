import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Store } from '../../src/store/port.ts'
import type { VirtualClock } from '../support/virtual-clock.ts'
import { startInMemory } from './scheduler-in-memory.ts'

const BY = { project: 'default', actor: null, request: null, address: null }
const AHEAD_MS = 50

interface Asked {
  readonly askedAt: number
  readonly notBefore: number
  readonly count: number
}

/** A store that can begin before the time, and takes as long for each firing as a slow one does. */
function aheadOf(store: Store, clock: VirtualClock, asked: Asked[], eachMs: number): Store {
  return {
    ...store,
    aheadMs: AHEAD_MS,
    async fire(batch) {
      const { notBefore, commands } = batch
      asked.push({ askedAt: clock.now(), notBefore, count: commands.length })
      await clock.sleep(commands.length * eachMs)
      const heldMs = Math.max(0, notBefore - clock.now())
      if (heldMs > 0) await clock.sleep(heldMs)
      return { ...(await store.fire(batch)), heldMs }
    },
  }
}

test('the store is given what is due so early that it is ready at the instant', async () => {
  const asked: Asked[] = []
  const { node, clock } = await startInMemory({
    wrap: (store, virtual) => aheadOf(store, virtual, asked, 0.2),
  })
  for (let i = 0; i < 100; i += 1) {
    await node.admin.schedules.put(BY, 'tidy', `r${i}`, { rule: { every: '1s' } })
  }
  await clock.advance(20_500)
  const last = asked.filter(({ notBefore }) => notBefore % 1_000 === 0).at(-1)
  assert.ok(last && last.count === 100, JSON.stringify(asked.slice(-3)))
  const leadMs = last.notBefore - last.askedAt
  assert.ok(leadMs >= 20 && leadMs <= AHEAD_MS, `${leadMs} ms ahead`)
})

test('what takes longer than that is begun as early as may be, many at a time', async () => {
  const asked: Asked[] = []
  const { node, clock } = await startInMemory({
    wrap: (store, virtual) => aheadOf(store, virtual, asked, 0.5),
  })
  for (let i = 0; i < 1_000; i += 1) {
    await node.admin.schedules.put(BY, 'tidy', `r${i}`, { rule: { every: '1m' } })
  }
  await clock.advance(630_000)
  const minutes = Map.groupBy(asked, ({ askedAt }) => Math.round(askedAt / 60_000))
  const last = [...minutes.values()].at(-1) ?? []
  assert.equal(
    last.reduce((sum, { count }) => sum + count, 0),
    1_000,
  )
  const [first] = last
  assert.ok(first && first.askedAt < first.notBefore && first.count === 500, JSON.stringify(last))
})
