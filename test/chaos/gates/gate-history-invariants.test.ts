// Proof that those who judge the crowd would notice: each story is one mistake away from a good one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Dump } from '../history.ts'
import { type CrowdHistory, crowdLaws } from './gate-history-invariants.ts'
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
  'told run_d 1 41 blue',
  'stopped run_d 1 41 blue',
]
const GOOD_ENDS: Ends = {
  run_a: 'succeeded',
  run_b: 'succeeded',
  run_c: 'succeeded',
  run_d: 'cancelled',
}

function story(
  lines: readonly string[] = GOOD_LINES,
  ends: Ends = GOOD_ENDS,
  { leftovers = {}, cause = null as string | null, doomed = ['run_d'] } = {},
): CrowdHistory {
  const errand = (...keys: string[]) => ({ keys, lastMs: 1, lingerMs: 0, failFirst: 0 })
  const runs = Object.entries(ends).map(([run, state]) => ({
    ...{ run, state, cause, key: '', fence: null, resultFence: null },
  }))
  const final = runs.filter(({ state }) => state !== 'blocked')
  const dump: Dump = { runs, ends: final, attempts: [], leftovers }
  const errands = new Map([
    ['run_a', errand('red')],
    ['run_b', { ...errand('red', 'blue'), failFirst: 1 }],
    ['run_c', errand('green')],
    ['run_d', errand('blue')],
  ])
  return { errands, lines: lines.map(parseLine), doomed: new Set(doomed), dump }
}

/** The good story with one line said at another time. */
function moved(from: number, to: number): string[] {
  const lines = [...GOOD_LINES]
  lines.splice(to, 0, ...lines.splice(from, 1))
  return lines
}

test('a story without a mistake, one attempt of it killed in the middle', () => {
  assert.deepEqual(crowdLaws(story()), [])
})

const MISTAKES: readonly [what: string, history: CrowdHistory, complaint: RegExp][] = [
  ['a run begins before the one before it ended', story(moved(2, 1)), /^red: attempt 1 of run_a/],
  ['the second key of a run counts as well', story(moved(7, 5)), /^blue: attempt 2 of run_b/],
  [
    'a killed attempt speaks up after its successor has begun',
    story(GOOD_LINES.toSpliced(5, 0, 'end run_b 1 21 red blue')),
    /^(red|blue): attempt 1 of run_b said "end" after attempt 2/,
  ],
  [
    'a process finds that another one still lives',
    story(GOOD_LINES.with(2, 'clash run_b 1 21 red blue')),
    /attempt 1 of run_b began while somebody lived who had red or blue/,
  ],
  [
    'a run succeeds that was never seen to end',
    story(GOOD_LINES.toSpliced(1, 1)),
    /run_a succeeded and was never done/,
  ],
  [
    'a run succeeds by an attempt that failed',
    story(GOOD_LINES.toSpliced(6, 1).toSpliced(3, 0, 'end run_b 1 21 red blue')),
    /run_b succeeded and was never done/,
  ],
  [
    'a run is cancelled that nobody asked to cancel',
    story(GOOD_LINES, GOOD_ENDS, { doomed: [] }),
    /run_d was cancelled by nobody/,
  ],
  [
    'a run fails for want of attempts',
    story(GOOD_LINES, { ...GOOD_ENDS, run_a: 'failed' }, { cause: 'error' }),
    /run_a failed: error/,
  ],
  [
    'a run is lost',
    story(GOOD_LINES, { run_a: 'succeeded', run_b: 'succeeded', run_c: 'succeeded' }),
    /run_d was acknowledged and is not there/,
  ],
  [
    'a run is there that nobody asked for',
    story(GOOD_LINES, { ...GOOD_ENDS, run_e: 'succeeded' }),
    /run_e was never asked for/,
  ],
  [
    'a run waits for ever',
    story(GOOD_LINES, { ...GOOD_ENDS, run_a: 'blocked' }),
    /a run ends: run_a is blocked/,
  ],
  [
    'a place is leaked',
    story(GOOD_LINES, GOOD_ENDS, { leftovers: { 'the gates': 1 } }),
    /nothing is left over: the gates still has 1 rows/,
  ],
]
for (const [what, history, complaint] of MISTAKES) {
  test(`it is noticed when ${what}`, () => {
    const found = crowdLaws(history)
    assert.notEqual(found.length, 0)
    for (const each of found) assert.match(each, complaint)
  })
}
