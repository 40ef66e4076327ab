// Proof that those who judge workflows would notice: each story is one mistake away from a good one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GraphStep } from '../../../src/core/workflow/graph.ts'
import { parseLine } from '../gates/trace-log.ts'
import type { DumpedFlow, DumpedStep } from './workflow-dump.ts'
import { readLine } from './step-trace-lines.ts'
import { type WorkflowHistory, workflowLaws } from './workflow-invariants.ts'

const step = (...needs: number[]): GraphStep => ({
  ...{ needs, when: 'all-succeeded', isFinally: false, maxParallel: null, mayFail: false },
})

/** A step, one after it that fans out to two, one after that; and one that only a failure would start. */
const STEPS = [step(), step(0), step(1), { ...step(0), when: 'any-failed' as const }]

const LINES = [
  ...['begin a 1 1 F1 0 -', 'end a 1 1 F1 0 -', 'begin b 1 2 F1 1 0', 'begin c 1 3 F1 1 1'],
  ...['end b 1 2 F1 1 0', 'begin c 2 4 F1 1 1', 'end c 2 4 F1 1 1', 'begin d 1 5 F1 2 -'],
  ...['end d 1 5 F1 2 -', 'begin e 1 6 - - -', 'end e 1 6 - - -'],
  ...['begin g 1 7 F2 0 -', 'end g 1 7 F2 0 -'],
]
const FLOWS: DumpedFlow[] = [
  ...['F1', 'F2'].map((flow, nth) => ({
    ...{ flow, job: 'etl', wave: nth + 1, retryOf: null, isOfFailed: false },
    ...{ isCancelled: false, closedMs: 3 },
  })),
]
const at = (flow: string, place: number, item: number, run: string | null, more = {}) => ({
  ...{ flow, step: place, item, run, state: 'succeeded', reason: null, count: null },
  ...more,
})
const SKIPPED = { state: 'skipped', reason: 'needs' }
const TOLD: DumpedStep[] = [
  at('F1', 0, -1, 'a'),
  at('F1', 1, -1, null, { count: 2 }),
  at('F1', 1, 0, 'b'),
  at('F1', 1, 1, 'c'),
  at('F1', 2, -1, 'd'),
  at('F1', 3, -1, null, SKIPPED),
  at('F2', 0, -1, 'g', { state: 'failed' }),
  at('F2', 1, -1, null, SKIPPED),
  at('F2', 2, -1, null, SKIPPED),
  at('F2', 3, -1, 'h'),
]
const STATES: Record<string, string> = {
  ...{ a: 'succeeded', b: 'succeeded', c: 'succeeded', d: 'succeeded', e: 'succeeded' },
  ...{ F1: 'succeeded', g: 'failed', h: 'succeeded', F2: 'failed', i: 'skipped' },
}

interface Change {
  readonly lines?: readonly string[]
  readonly flows?: readonly DumpedFlow[]
  readonly steps?: readonly DumpedStep[]
  readonly states?: Record<string, string>
  readonly leftovers?: Record<string, number>
}

function story(change: Change = {}): WorkflowHistory {
  const states = { ...STATES, ...change.states }
  const causes: Record<string, string> = { g: 'exit', F2: 'error' }
  const runs = Object.entries(states).map(([run, state]) => ({
    ...{ run, state, cause: causes[run] ?? null, key: '', fence: null, resultFence: null },
  }))
  return {
    workflows: new Map([['etl', { steps: STEPS, isGated: true }]]),
    lines: (change.lines ?? LINES).map((line) => readLine(parseLine(line))),
    flows: change.flows ?? FLOWS,
    steps: change.steps ?? TOLD,
    followers: new Map([
      ['e', [{ run: 'd', on: 'ok' as const }]],
      ['i', [{ run: 'g', on: 'ok' as const }]],
    ]),
    dump: { runs, ends: runs, attempts: [], leftovers: change.leftovers ?? {} },
  }
}

/** The good story with one line said at another time. */
const moved = (from: number, to: number) => {
  const lines = [...LINES]
  lines.splice(to, 0, ...lines.splice(from, 1))
  return lines
}
const told = (index: number, more: Partial<DumpedStep>) =>
  TOLD.with(index, { ...(TOLD[index] as DumpedStep), ...more })
const flowed = (index: number, more: Partial<DumpedFlow>) =>
  FLOWS.with(index, { ...(FLOWS[index] as DumpedFlow), ...more })

test('a story without a mistake, one attempt of it killed in the middle', () => {
  assert.deepEqual(workflowLaws(story()), [])
})

const MISTAKES: readonly [what: string, change: Change, complaint: RegExp][] = [
  ['an item begins before what it needs', { lines: moved(2, 1) }, /step 1.0 of F1 began early/],
  ['a step begins before the last item', { lines: moved(7, 6) }, /step 2 of F1 began early/],
  [
    'a step is run twice',
    { lines: [...LINES, 'begin z 1 9 F2 0 -'] },
    /step 0 of F2 began 2 times: g, z/,
  ],
  ['a run follows too early', { lines: moved(9, 8) }, /e began before d ended/],
  ['a run follows what failed', { states: { i: 'succeeded' } }, /i is succeeded, and was to be/],
  ['a run is skipped for no reason', { states: { e: 'skipped' } }, /e is skipped, and was to run/],
  ['a wave meets another', { lines: moved(11, 4) }, /of F1 said ".*" after its wave/],
  ['a wave is left out', { flows: flowed(1, { wave: 3 }) }, /the waves of etl are 1, 3/],
  [
    'a repetition is counted again',
    { flows: flowed(1, { retryOf: 'F1', wave: 2 }) },
    /F2 repeats F1 as wave 2/,
  ],
  [
    'what was done is repeated',
    { flows: flowed(1, { retryOf: 'F1', wave: 1, isOfFailed: true }) },
    /step 0 of F2 was done in F1 already/,
  ],
  ['a flow ends before its steps', { steps: told(4, { state: 'running' }) }, /F1: end succeeded/],
  ['a flow ends as it did not go', { states: { F2: 'succeeded' } }, /F2: end succeeded error, not/],
  [
    'what could start is skipped',
    { steps: told(4, { ...SKIPPED, run: null }) },
    /F1: step 2 is skipped needs/,
  ],
  ['what cannot start does', { steps: told(5, at('F1', 3, -1, 'y')) }, /F1: step 3/],
  ['something is left over', { leftovers: { told: 1 } }, /told still has 1 rows/],
]
for (const [what, change, complaint] of MISTAKES) {
  test(`it is noticed when ${what}`, () => {
    const found = workflowLaws(story(change))
    assert.ok(
      found.some((each) => complaint.test(each)),
      found.join('\n') || 'nothing was noticed',
    )
  })
}
