import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fenceOf } from '../../../core/run/fence.ts'
import { EMPTY_BATCH, endCommandFor } from '../../contract/fixture.ts'
import type { EndCommand, NewRun, TickBatch } from '../../port.ts'
import { prepareGates } from '../gates/admit.ts'
import { prepareAttemptEnds } from '../ticks/end.ts'
import { prepareKeys } from '../ticks/submit-keys.ts'
import { prepareNeeds } from '../ticks/needs.ts'
import { newRun } from '../contract/rows.ts'
import { openEngine } from '../store.ts'
import { prepareTick } from '../ticks/tick.ts'

const SESSION = 5
const FENCE = fenceOf(1, 7)

/**
 * A batch as a caller with lost state and repeats would send it: new runs, old ones, wrong fences.
 */
const batches = fc.array(
  fc.record({
    submits: fc.array(
      fc.record({
        id: fc.integer({ min: 1, max: 400 }),
        handedOff: fc.boolean(),
        key: fc.option(fc.constantFrom('a', 'b'), { freq: 10 }),
        node: fc.constantFrom(1, 1, 1, 2),
      }),
      { maxLength: 150 },
    ),
    ends: fc.array(
      fc.record({
        id: fc.integer({ min: 1, max: 400 }),
        fence: fc.constantFrom(FENCE, FENCE, FENCE, FENCE + 1),
        to: fc.constantFrom('succeeded', 'succeeded', 'succeeded', 'failed', 'retry' as const),
      }),
      { maxLength: 150 },
    ),
    claim: fc.integer({ min: 0, max: 30 }),
  }),
  { minLength: 1, maxLength: 6 },
)

function runOf({
  id,
  handedOff,
  key,
}: {
  id: number
  handedOff: boolean
  key: string | null
}): NewRun {
  const reservation = handedOff ? { session: SESSION, fence: FENCE } : null
  return newRun(id, { reservation, dedupeKey: key })
}

function endFor(end: { id: number; fence: number; to: EndCommand['to'] }): EndCommand {
  const cause = end.to === 'succeeded' ? null : 'exit'
  return endCommandFor({ runId: end.id, fence: end.fence }, { to: end.to, cause })
}

function unique<T extends { id: number }>(items: readonly T[]): T[] {
  return [...new Map(items.map((item) => [item.id, item])).values()]
}

test('a tick in bulk has the same effect as the same tick row by row', () => {
  fc.assert(
    fc.property(batches, (plan) => {
      const bulk = openEngine({ path: ':memory:', now: () => 1_000 })
      const { raw } = openEngine({ path: ':memory:', now: () => 1_000 })
      const gates = prepareGates(raw)
      const keys = prepareKeys(raw)
      const needs = prepareNeeds(raw, keys)
      const endings = prepareAttemptEnds(raw, gates, keys)
      const oneByOne = prepareTick(raw, { gates, keys, needs, endings, gatedRuns: new Map() })
      for (const { submits, ends, claim } of plan) {
        const batch: TickBatch = {
          ...EMPTY_BATCH,
          node: submits[0]?.node ?? 1,
          submits: unique(submits).map(runOf),
          // Two ends of one attempt in one tick have no order: either may win.
          ends: unique(ends).map(endFor),
          claims: [
            {
              laneId: 1,
              sessions: new Array<number>(claim).fill(SESSION),
              salts: new Array<number>(claim).fill(7),
              floor: null,
            },
          ],
        }
        assert.deepEqual(bulk.operations.tick(batch), oneByOne(batch, 1_000, false))
      }
      const rows = 'SELECT * FROM run ORDER BY id'
      assert.deepEqual(bulk.raw.prepare(rows).all(), raw.prepare(rows).all())
      const held = 'SELECT project_id, key, run_id FROM dedupe ORDER BY run_id'
      assert.deepEqual(bulk.raw.prepare(held).all(), raw.prepare(held).all())
      bulk.close()
    }),
    { numRuns: 100 },
  )
})

test('runs that hold a key end in one tick with a hundred that hold none', () => {
  const { operations, raw } = openEngine({ path: ':memory:', now: () => 1_000 })
  const ids = Array.from({ length: 101 }, (_, index) => index + 1)
  const keyOf = (id: number) => (id % 25 === 0 ? `key-${id}` : null)
  const submits = ids.map((id) => runOf({ id, handedOff: true, key: keyOf(id) }))
  operations.tick({ ...EMPTY_BATCH, node: 1, submits })
  const ends = ids.map((id) => endFor({ id, fence: FENCE, to: 'succeeded' }))
  const first = operations.tick({ ...EMPTY_BATCH, node: 1, ends })
  assert.ok(first.ends.every((verdict) => verdict === 'ended'))
  assert.equal(raw.prepare('SELECT count(*) FROM dedupe').pluck().get(), 0)
  const again = operations.tick({ ...EMPTY_BATCH, node: 1, ends })
  assert.ok(again.ends.every((verdict) => verdict === 'replayed'))
})

test('a report that arrives twice in one tick ends its run once', () => {
  const { operations } = openEngine({ path: ':memory:', now: () => 1_000 })
  const ids = Array.from({ length: 70 }, (_, index) => index + 1)
  const submits = ids.map((id) => runOf({ id, handedOff: true, key: null }))
  operations.tick({ ...EMPTY_BATCH, node: 1, submits })
  const ends = [...ids, 1].map((id) => endFor({ id, fence: FENCE, to: 'succeeded' }))
  const verdicts = operations.tick({ ...EMPTY_BATCH, node: 1, ends }).ends
  assert.deepEqual(verdicts, [...ids.map(() => 'ended'), 'replayed'])
})
