// Shows that the invariants detect mistakes: each history is one mistake away from a correct one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GraphStep } from '../../../src/core/workflow/graph.ts'
import { parseLine } from '../gates/trace-log.ts'
import type { DumpedWorkflow, DumpedStep } from './workflow-dump.ts'
import { readStepLine } from './step-trace-lines.ts'
import { type WorkflowHistory, workflowInvariants } from './workflow-invariants.ts'

const step = (...needs: number[]): GraphStep => ({
  needs,
  when: 'all-succeeded',
  isFinally: false,
  maxParallel: null,
  mayFail: false,
})

/** A step, one after it that fans out to two, one after that; and one that starts only after a failure. */
const STEPS = [step(), step(0), step(1), { ...step(0), when: 'any-failed' as const }]

const LINES = [
  'begin a 1 1 F1 0 -',
  'end a 1 1 F1 0 -',
  'begin b 1 2 F1 1 0',
  'begin c 1 3 F1 1 1',
  'end b 1 2 F1 1 0',
  'begin c 2 4 F1 1 1',
  'end c 2 4 F1 1 1',
  'begin d 1 5 F1 2 -',
  'end d 1 5 F1 2 -',
  'begin e 1 6 - - -',
  'end e 1 6 - - -',
  'begin g 1 7 F2 0 -',
  'end g 1 7 F2 0 -',
]
const WORKFLOW_RUNS: DumpedWorkflow[] = [
  ...['F1', 'F2'].map((workflow, nth) => ({
    workflow,
    job: 'etl',
    wave: nth + 1,
    retryOf: null,
    isOfFailed: false,
    isCancelled: false,
    closedMs: 3,
  })),
]
const at = (workflow: string, place: number, item: number, run: string | null, more = {}) => ({
  workflow,
  step: place,
  item,
  run,
  state: 'succeeded',
  reason: null,
  count: null,
  ...more,
})
const SKIPPED = { state: 'skipped', reason: 'needs' }
const STEP_RECORDS: DumpedStep[] = [
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
  a: 'succeeded',
  b: 'succeeded',
  c: 'succeeded',
  d: 'succeeded',
  e: 'succeeded',
  F1: 'succeeded',
  g: 'failed',
  h: 'succeeded',
  F2: 'failed',
  i: 'skipped',
}

interface HistoryChange {
  readonly lines?: readonly string[]
  readonly workflowRuns?: readonly DumpedWorkflow[]
  readonly steps?: readonly DumpedStep[]
  readonly states?: Record<string, string>
  readonly leftovers?: Record<string, number>
}

function historyWith(change: HistoryChange = {}): WorkflowHistory {
  const states = { ...STATES, ...change.states }
  const causes: Record<string, string> = { g: 'exit', F2: 'error' }
  const runs = Object.entries(states).map(([run, state]) => ({
    run,
    state,
    cause: causes[run] ?? null,
    key: '',
    fence: null,
    resultFence: null,
  }))
  return {
    workflows: new Map([['etl', { steps: STEPS, isGated: true }]]),
    lines: (change.lines ?? LINES).map((line) => readStepLine(parseLine(line))),
    workflowRuns: change.workflowRuns ?? WORKFLOW_RUNS,
    steps: change.steps ?? STEP_RECORDS,
    followers: new Map([
      ['e', [{ run: 'd', on: 'ok' as const }]],
      ['i', [{ run: 'g', on: 'ok' as const }]],
    ]),
    dump: { runs, ends: runs, attempts: [], leftovers: change.leftovers ?? {} },
  }
}

/** The correct history with one line moved. */
const withLineMoved = (from: number, to: number) => {
  const lines = [...LINES]
  lines.splice(to, 0, ...lines.splice(from, 1))
  return lines
}
const withChangedStep = (index: number, more: Partial<DumpedStep>) =>
  STEP_RECORDS.with(index, { ...(STEP_RECORDS[index] as DumpedStep), ...more })
const withChangedWorkflow = (index: number, more: Partial<DumpedWorkflow>) =>
  WORKFLOW_RUNS.with(index, { ...(WORKFLOW_RUNS[index] as DumpedWorkflow), ...more })

test('a correct history, with one attempt killed midway, has no violations', () => {
  assert.deepEqual(workflowInvariants(historyWith()), [])
})

const MISTAKES: readonly [what: string, change: HistoryChange, complaint: RegExp][] = [
  [
    'an item begins before what it needs',
    { lines: withLineMoved(2, 1) },
    /step 1.0 of F1 began early/,
  ],
  [
    'a step begins before the last item',
    { lines: withLineMoved(7, 6) },
    /step 2 of F1 began early/,
  ],
  [
    'a step is run twice',
    { lines: [...LINES, 'begin z 1 9 F2 0 -'] },
    /step 0 of F2 began 2 times: g, z/,
  ],
  ['a follower starts too early', { lines: withLineMoved(9, 8) }, /e began before d ended/],
  [
    'a follower runs although its condition failed',
    { states: { i: 'succeeded' } },
    /i is succeeded, and was to be/,
  ],
  [
    'a follower is skipped although its condition is met',
    { states: { e: 'skipped' } },
    /e is skipped, and was to run/,
  ],
  ['two waves overlap', { lines: withLineMoved(11, 4) }, /of F1 wrote ".*" after its wave/],
  [
    'a wave number is missing',
    { workflowRuns: withChangedWorkflow(1, { wave: 3 }) },
    /the waves of etl are 1, 3/,
  ],
  [
    'a retry gets a wave number of its own',
    { workflowRuns: withChangedWorkflow(1, { retryOf: 'F1', wave: 2 }) },
    /F2 repeats F1 as wave 2/,
  ],
  [
    'a step that succeeded runs again in a retry',
    { workflowRuns: withChangedWorkflow(1, { retryOf: 'F1', wave: 1, isOfFailed: true }) },
    /step 0 of F2 was done in F1 already/,
  ],
  [
    'a workflow ends before its steps',
    { steps: withChangedStep(4, { state: 'running' }) },
    /F1: end succeeded/,
  ],
  [
    'a workflow ends in another state than its steps imply',
    { states: { F2: 'succeeded' } },
    /F2: end succeeded error, not/,
  ],
  [
    'a step that could start is skipped',
    { steps: withChangedStep(4, { ...SKIPPED, run: null }) },
    /F1: step 2 is skipped needs/,
  ],
  [
    'a step that cannot start has a run',
    { steps: withChangedStep(5, at('F1', 3, -1, 'y')) },
    /F1: step 3/,
  ],
  ['a row of unfinished work remains', { leftovers: { told: 1 } }, /told still has 1 rows/],
]
for (const [what, change, complaint] of MISTAKES) {
  test(`a violation is reported when ${what}`, () => {
    const found = workflowInvariants(historyWith(change))
    assert.ok(
      found.some((each) => complaint.test(each)),
      found.join('\n') || 'no violation was found',
    )
  })
}
