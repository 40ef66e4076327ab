import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { WANTED_OUTCOMES } from '../../../core/run/needs.ts'
import { CAUSES } from '../../../core/run/run-state.ts'
import type { EndCommand, Lease, NewRun, TickBatch, TickResult } from '../../port.ts'
import { packBatch, packResult, unpackBatch, unpackResult } from './thread-pack.ts'

const count = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
const text = fc.option(fc.string(), { nil: null })
const maybe = fc.option(count, { nil: null })

const plain: fc.Arbitrary<NewRun> = fc.record({
  id: count,
  projectId: count,
  jobId: count,
  laneId: count,
  rank: fc.integer({ min: -10, max: 10 }),
  dueAt: maybe,
  timeoutMs: maybe,
  retryOf: maybe,
  version: maybe,
  createdBy: maybe,
  policy: text,
  input: text,
  tags: text,
  dedupeKey: text,
  work: text,
  gates: fc.array(count, { maxLength: 3 }),
  idempotency: fc.option(fc.record({ key: fc.string(), digest: fc.string(), until: count }), {
    nil: null,
  }),
  reservation: fc.option(fc.record({ session: count, fence: count }), { nil: null }),
})
const needs = fc.array(fc.record({ runId: count, wants: fc.constantFrom(...WANTED_OUTCOMES) }))
const submit: fc.Arbitrary<NewRun> = fc
  .tuple(plain, fc.option(needs))
  .map(([run, after]) => (after ? { ...run, after } : run))

const end: fc.Arbitrary<EndCommand> = fc.record({
  runId: count,
  fence: count,
  owner: maybe,
  delayMs: count,
  lost: count,
  pos: count,
  to: fc.constantFrom('succeeded', 'failed', 'cancelled', 'retry', 'given_back'),
  cause: fc.option(fc.constantFrom(...CAUSES), { nil: null }),
  worker: text,
  message: text,
  result: text,
  process: text,
})

const lease: fc.Arbitrary<Lease> = fc.record({
  runId: count,
  fence: count,
  node: count,
  session: count,
  projectId: count,
  jobId: count,
  laneId: count,
  pos: count,
  attempt: count,
  lost: count,
  startedAt: count,
  createdAt: count,
  rank: fc.integer({ min: -10, max: 10 }),
  cancelling: fc.boolean(),
  dueAt: maybe,
  timeoutMs: maybe,
  version: maybe,
  policy: text,
  input: text,
  work: text,
})

/** Messages to the thread are cloned on the way. */
const cross = <T>(value: T): T => structuredClone(value)

test('a batch arrives at the thread as it was sent', () => {
  const batches = fc.record({ submits: fc.array(submit), ends: fc.array(end), node: count })
  fc.assert(
    fc.property(batches, (given) => {
      const cancels = [{ runId: 1, projectId: 2 }]
      const claims = [{ laneId: 1, sessions: [5, 6], salts: [7, 8], floor: { rank: 0, pos: 3 } }]
      const batch: TickBatch = { ...given, cancels, claims }
      assert.deepEqual(cross(unpackBatch(cross(packBatch(batch)))), cross(batch))
    }),
  )
})

test('a result comes back unchanged, plain or not', () => {
  const results = fc.record({
    submits: fc.array(fc.constantFrom({ kind: 'inserted' as const }, { kind: 'exists' as const })),
    ends: fc.array(fc.constantFrom('ended' as const, 'stale' as const, 'replayed' as const)),
    claims: fc.array(fc.array(lease)),
  })
  fc.assert(
    fc.property(results, (given) => {
      const rest = {
        now: 1,
        cancels: [{ kind: 'cancelled' as const }],
        limited: [{ laneId: 3, until: 9 }],
        refilled: [4],
        nextDueAt: null,
        signals: [{ kind: 'need' as const, runId: 5 }],
      }
      const result: TickResult = { ...given, ...rest }
      assert.deepEqual(cross(unpackResult(cross(packResult(result)))), cross(result))
    }),
  )
})
