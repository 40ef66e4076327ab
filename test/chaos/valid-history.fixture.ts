import { check } from './checker.ts'
import { readTruth, truthLine, type InjectedFault, type History } from './history.ts'
import type { Invariant } from './violation.ts'

export const MS = 1_000_000

export const fault = (kind: InjectedFault['kind'], target: string, atMs: number): InjectedFault => {
  return { kind, target, atNs: atMs * MS }
}

export const truth = (worker: string, ...lines: string[]) =>
  readTruth(
    worker,
    lines
      .map((line) => {
        const [run = '', fence, what, atMs, outcome = '-'] = line.split(' ')
        const at = { fence: Number(fence), atNs: Number(atMs) * MS }
        return truthLine({ run, ...at, what: what as 'START', outcome })
      })
      .join(''),
  )

export const submit = (key: string, run: string, call: number, traits: object = {}) => [
  { op: 'submit', phase: 'invoke', call, atNs: 1 * MS, key, traits } as const,
  { op: 'submit', phase: 'ok', call, atNs: 2 * MS, key, run } as const,
]

export const row = (run: string, key: string, state: string, fence: number | null) => ({
  run,
  key,
  state,
  fence,
  cause: state === 'failed' ? 'error' : null,
  resultFence: state === 'succeeded' ? fence : null,
})

const GATE = { gate: 'narrow', limit: 1 }

/**
 * A short, correct history with every feature: `a` succeeded at its second attempt, `b` was cancelled before it
 * started, `c` and `d` shared a gate, `e` was refused and `f` is unknown.
 */
export const validHistory: History = {
  client: [
    ...submit('a', 'run_a', 1, { maxStarts: 3 }),
    ...submit('b', 'run_b', 2),
    ...submit('c', 'run_c', 3, GATE),
    ...submit('d', 'run_d', 4, { ...GATE, atMostOnce: true, dueNs: 40 * MS }),
    { op: 'submit', phase: 'invoke', call: 5, atNs: 1, key: 'e', traits: {} },
    { op: 'submit', phase: 'fail', call: 5, atNs: 2, key: 'e', code: 'invalid_field' },
    { op: 'submit', phase: 'invoke', call: 6, atNs: 1, key: 'f', traits: {} },
    { op: 'submit', phase: 'info', call: 6, atNs: 2, key: 'f', code: 'server_unreachable' },
    { op: 'cancel', phase: 'invoke', call: 7, atNs: 3 * MS, run: 'run_b' },
    { op: 'cancel', phase: 'ok', call: 7, atNs: 5 * MS, run: 'run_b', state: 'cancelled' },
  ],
  truth: [
    ...truth('w1', 'run_a 11 START 10', 'run_a 11 END 20 failed', 'run_a 11 ACCEPTED 21 failed'),
    ...truth('w1', 'run_a 12 START 30', 'run_a 12 END 35 succeeded'),
    ...truth('w1', 'run_a 12 ACCEPTED 36 succeeded', 'run_a 12 ACCEPTED 37 succeeded'),
    ...truth(
      'w1',
      'run_c 31 START 30',
      'run_c 31 END 40 succeeded',
      'run_c 31 ACCEPTED 41 succeeded',
    ),
    ...truth('w2', 'run_d 41 START 50'),
  ],
  faults: [fault('killed', 'w2', 55), fault('killed', 'server-1.1', 56)],
  dump: {
    runs: [
      row('run_a', 'a', 'succeeded', 12),
      row('run_b', 'b', 'cancelled', null),
      row('run_c', 'c', 'succeeded', 31),
      { ...row('run_d', 'd', 'failed', 41), cause: 'lost' },
    ],
    ends: [
      { run: 'run_a', state: 'succeeded' },
      { run: 'run_b', state: 'cancelled' },
      { run: 'run_c', state: 'succeeded' },
      { run: 'run_d', state: 'failed' },
    ],
    attempts: [{ run: 'run_a', fence: 11, cause: 'error' }],
    leftovers: { ready: 0, lease: 0 },
  },
}

/** Turns the correct history into another one. */
export type HistoryChange = (history: History) => Partial<History>

export const withTruth = (worker: string, ...lines: string[]): HistoryChange => {
  return (history) => ({ truth: [...history.truth, ...truth(worker, ...lines)] })
}

export const withoutTruth = (start: string): HistoryChange => {
  return ({ truth }) => ({
    truth: truth.filter(({ run, fence, what }) => `${run} ${fence} ${what}` !== start),
  })
}

export const withDump = (
  change: (dump: History['dump']) => Partial<History['dump']>,
): HistoryChange => {
  return ({ dump }) => ({ dump: { ...dump, ...change(dump) } })
}

/** The database has a lost attempt that its worker never reported. */
export const withLost = (run: string, fence: number): HistoryChange =>
  withDump(({ attempts }) => ({ attempts: [...attempts, { run, fence, cause: 'lost' }] }))

export const withRun = (run: string, more: object): HistoryChange =>
  withDump(({ runs }) => ({
    runs: runs.map((row) => (row.run === run ? { ...row, ...more } : row)),
  }))

export const withFrozen = (worker: string, fromMs: number, untilMs: number): HistoryChange => {
  return ({ faults }) => ({
    faults: [...faults, fault('frozen', worker, fromMs), fault('thawed', worker, untilMs)],
  })
}

export const both = (one: HistoryChange, other: HistoryChange): HistoryChange => {
  return (history) => ({ ...one(history), ...other({ ...history, ...one(history) }) })
}

export const brokenInvariants = (change: HistoryChange): Set<Invariant> =>
  new Set(
    check({ ...validHistory, ...change(validHistory) }).violations.map(
      ({ invariant }) => invariant,
    ),
  )
export const cancelled = (
  run: string,
  state: 'cancelled' | 'cancelling',
  atMs: number,
): HistoryChange => {
  return ({ client }) => ({
    client: [...client, { op: 'cancel', phase: 'ok', call: 8, atNs: atMs * MS, run, state }],
  })
}
