// Shows that the invariants detect mistakes: each history is one mistake away from a correct one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Dump } from '../history.ts'
import { type GateHistory, gateHistoryInvariants } from './gate-history-invariants.ts'
import { parseLine } from './trace-log.ts'

type Ends = Readonly<Record<string, string>>

const GOOD_LINES = [
  'begin run_a 1 11 red',
  'end run_a 1 11 red',
  'begin run_b 1 21 red blue',
  'begin run_c 1 31 green',
  'begin run_b 2 22 red blue',
  'end run_c 1 31 green',
  'end run_b 2 22 red blue',
  'begin run_d 1 41 blue',
  'signalled run_d 1 41 blue',
  'stopped run_d 1 41 blue',
]
const GOOD_ENDS: Ends = {
  run_a: 'succeeded',
  run_b: 'succeeded',
  run_c: 'succeeded',
  run_d: 'cancelled',
}

function historyOf(
  lines: readonly string[] = GOOD_LINES,
  ends: Ends = GOOD_ENDS,
  { leftovers = {}, cause = null as string | null, cancelRequested = ['run_d'] } = {},
): GateHistory {
  const runSpec = (...keys: string[]) => ({ keys, lastMs: 1, slowFirstMs: 0, failFirst: 0 })
  const runs = Object.entries(ends).map(([run, state]) => ({
    run,
    state,
    cause,
    key: '',
    fence: null,
    resultFence: null,
  }))
  const final = runs.filter(({ state }) => state !== 'blocked')
  const dump: Dump = { runs, ends: final, attempts: [], leftovers }
  const runSpecs = new Map([
    ['run_a', runSpec('red')],
    ['run_b', { ...runSpec('red', 'blue'), failFirst: 1 }],
    ['run_c', runSpec('green')],
    ['run_d', runSpec('blue')],
  ])
  return { runSpecs, lines: lines.map(parseLine), cancelRequested: new Set(cancelRequested), dump }
}

/** The correct history with one line moved. */
function withLineMoved(from: number, to: number): string[] {
  const lines = [...GOOD_LINES]
  lines.splice(to, 0, ...lines.splice(from, 1))
  return lines
}

test('a correct history, with one attempt killed midway, has no violations', () => {
  assert.deepEqual(gateHistoryInvariants(historyOf()), [])
})

const MISTAKES: readonly [what: string, history: GateHistory, complaint: RegExp][] = [
  [
    'a run begins before its predecessor ended',
    historyOf(withLineMoved(2, 1)),
    /^red: attempt 1 of run_a/,
  ],
  [
    'the second key of a run counts as well',
    historyOf(withLineMoved(7, 5)),
    /^blue: attempt 2 of run_b/,
  ],
  [
    'a killed attempt writes a line after its successor has begun',
    historyOf(GOOD_LINES.toSpliced(5, 0, 'end run_b 1 21 red blue')),
    /^(red|blue): attempt 1 of run_b wrote "end" after attempt 2/,
  ],
  [
    'a process finds another one still alive',
    historyOf(GOOD_LINES.with(2, 'clash run_b 1 21 red blue')),
    /attempt 1 of run_b began while another process held red or blue/,
  ],
  [
    'a run succeeds without a recorded end',
    historyOf(GOOD_LINES.toSpliced(1, 1)),
    /run_a succeeded without an end/,
  ],
  [
    'a run succeeds by an attempt that failed',
    historyOf(GOOD_LINES.toSpliced(6, 1).toSpliced(3, 0, 'end run_b 1 21 red blue')),
    /run_b succeeded without an end/,
  ],
  [
    'a run is cancelled without a request',
    historyOf(GOOD_LINES, GOOD_ENDS, { cancelRequested: [] }),
    /run_d was cancelled without a request/,
  ],
  [
    'a run fails because its retries are used up',
    historyOf(GOOD_LINES, { ...GOOD_ENDS, run_a: 'failed' }, { cause: 'error' }),
    /run_a failed: error/,
  ],
  [
    'a run is lost',
    historyOf(GOOD_LINES, { run_a: 'succeeded', run_b: 'succeeded', run_c: 'succeeded' }),
    /run_d was acknowledged and does not exist/,
  ],
  [
    'a run exists that was not submitted',
    historyOf(GOOD_LINES, { ...GOOD_ENDS, run_e: 'succeeded' }),
    /run_e was never submitted/,
  ],
  [
    'a run never ends',
    historyOf(GOOD_LINES, { ...GOOD_ENDS, run_a: 'blocked' }),
    /a run ends: run_a is blocked/,
  ],
  [
    'a slot is leaked',
    historyOf(GOOD_LINES, GOOD_ENDS, { leftovers: { 'the gates': 1 } }),
    /no work remains: the gates still has 1 rows/,
  ],
]
for (const [what, history, complaint] of MISTAKES) {
  test(`a violation is reported when ${what}`, () => {
    const found = gateHistoryInvariants(history)
    assert.notEqual(found.length, 0)
    for (const each of found) assert.match(each, complaint)
  })
}
