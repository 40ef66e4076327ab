import assert from 'node:assert/strict'
import type { EndCommand, NewRun, RunOrigin, RunRecord, Store } from '../port.ts'

export const NODE_TTL_MS = 30_000
export const GRACE_MS = 60_000
/** An origin of a run, with all else absent. */
export function originOf(runId: number, origin: Partial<Omit<RunOrigin, 'runId'>>): RunOrigin {
  const none = { scheduleId: null, backfillId: null, afterRunId: null, workflowRunId: null }
  return { runId, ...none, ...origin }
}

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS
/** Noon, so that no test depends on midnight. */
export const START_MS = Date.UTC(2026, 2, 4, 12)

/** A clock that only the test sets. */
export interface ManualClock {
  now(): number
  advance(ms: number): void
}

export function createManualClock(startMs: number): ManualClock {
  let nowMs = startMs
  return { now: () => nowMs, advance: (ms) => void (nowMs += ms) }
}

/** The same numbers in the same order for the same seed. */
export function createSeededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export const EMPTY_BATCH = { submits: [], ends: [], cancels: [], claims: [] } as const

export const NO_OPTIONS = {
  rank: 0,
  dueAt: null,
  timeoutMs: null,
  policy: null,
  version: null,
  createdBy: null,
  work: null,
  input: null,
  tags: null,
  gates: [],
  dedupeKey: null,
  idempotency: null,
  retryOf: null,
  reservation: null,
} as const satisfies Partial<NewRun>

export interface AttemptRef {
  readonly runId: number
  readonly fence: number
}

/** The end of an attempt: a success unless overridden. */
export function endCommandFor(
  { runId, fence }: AttemptRef,
  overrides: Partial<EndCommand> = {},
): EndCommand {
  return {
    runId,
    fence,
    owner: null,
    to: 'succeeded',
    cause: null,
    delayMs: 0,
    lost: 0,
    pos: runId,
    worker: null,
    message: null,
    result: null,
    process: null,
    ...overrides,
  }
}

export async function listAll(store: Store, projectId: number): Promise<readonly RunRecord[]> {
  const all: RunRecord[] = []
  for (let before = Number.MAX_SAFE_INTEGER; ;) {
    const page = await store.listRuns({ projectId, state: null, jobId: null, before, limit: 500 })
    all.push(...page)
    if (page.length < 500) return all
    before = at(page, page.length - 1).id
  }
}

export function runIds(rows: readonly { readonly runId: number }[]): number[] {
  return rows.map(({ runId }) => runId)
}

export function ids(rows: readonly { readonly id: number }[]): number[] {
  return rows.map(({ id }) => id)
}

export function sortedNumbers(numbers: readonly number[]): number[] {
  return numbers.toSorted((a, b) => a - b)
}

export function chunks<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  )
}

export function only<T>(list: readonly T[]): T {
  assert.equal(list.length, 1, 'exactly one was expected')
  return list[0] as T
}

export function at<T>(list: readonly T[], index: number): T {
  assert.ok(index < list.length, `nothing at ${index} of ${list.length}`)
  return list[index] as T
}
