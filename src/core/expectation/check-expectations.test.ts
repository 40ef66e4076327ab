import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstCheckAt, checkExpectations, type ObservedRun } from './check-expectations.ts'
import type { ExpectationTerms } from './terms.ts'

const WAITING: ObservedRun = {
  firstStartedAt: null,
  startedAt: null,
  finishedAt: null,
  isEmpty: false,
}
const started = (at: number): ObservedRun => ({ ...WAITING, firstStartedAt: at, startedAt: at })
const ended = (startedAt: number, finishedAt: number, isEmpty = false): ObservedRun => ({
  ...started(startedAt),
  finishedAt,
  isEmpty,
})
const again = (firstStartedAt: number, startedAt: number | null): ObservedRun => ({
  ...WAITING,
  firstStartedAt,
  startedAt,
})
const START: ExpectationTerms = { startBy: 10_000 }
const END: ExpectationTerms = { endBy: 60_000 }
const LONG: ExpectationTerms = { longestMs: 20_000 }
const OUTPUT: ExpectationTerms = { output: true }

/** The expected violations with their due times, and the time of the next check. */
const table: [
  why: string,
  ExpectationTerms,
  ObservedRun,
  now: number,
  expected: string,
  checkAt: number | null,
][] = [
  ['it may still start', START, WAITING, 10_000, '', 10_500],
  ['a start that is just being written down is not late', START, WAITING, 10_499, '', 10_500],
  ['it has not started', START, WAITING, 10_500, 'late 10000', null],
  ['it started at the last moment', START, started(10_000), 99_000, '', null],
  ['it started late, which is seen much later', START, started(10_001), 99_000, 'late 10000', null],
  ['it started in time and waits for another attempt', START, again(9_000, null), 99_000, '', null],
  ['it started in time and once more', START, again(9_000, 70_000), 99_000, '', null],
  [
    'cancelled in time, it is not waited for',
    START,
    { ...WAITING, finishedAt: 9_000 },
    99_000,
    '',
    null,
  ],
  [
    'cancelled after it should have started',
    START,
    { ...WAITING, finishedAt: 11_000 },
    99_000,
    'late 10000',
    null,
  ],
  ['there is time left until its deadline', END, started(1), 60_499, '', 60_500],
  ['it has not ended by its deadline', END, started(1), 60_500, 'unfinished 60000', null],
  ['it has not even started by its deadline', END, WAITING, 60_500, 'unfinished 60000', null],
  ['it ended at its deadline', END, ended(1, 60_000), 99_000, '', null],
  ['it ended after its deadline', END, ended(1, 60_001), 99_000, 'unfinished 60000', null],
  ['one that has not started is not slow, whenever', LONG, WAITING, 99_000, '', 119_000],
  ['it is not slow yet', LONG, started(5_000), 25_499, '', 25_500],
  ['it is slow while it runs', LONG, started(5_000), 25_500, 'slow 25000', null],
  ['it took as long as it may', LONG, ended(5_000, 25_000), 99_000, '', null],
  ['it took longer than it may', LONG, ended(5_000, 25_001), 99_000, 'slow 25000', null],
  ['each attempt has its own time', LONG, again(1, 90_000), 99_000, '', 110_500],
  ['it was cancelled before it started', LONG, { ...WAITING, finishedAt: 3 }, 99_000, '', null],
  ['a very short one is not looked at all the time', { longestMs: 1 }, WAITING, 500, '', 1_500],
  ['it may still print something', OUTPUT, started(1), 500, '', 30_500],
  ['no output', OUTPUT, ended(1, 400, true), 500, 'empty 400', null],
  ['some output', OUTPUT, ended(1, 400), 500, '', null],
  [
    'a violation is reported once, the other terms are checked again',
    { ...START, ...END, ...LONG },
    WAITING,
    10_500,
    'late 10000',
    30_500,
  ],
  [
    'everything at once',
    { ...START, ...END, ...LONG, ...OUTPUT },
    ended(50_000, 80_000, true),
    99_000,
    'late 10000, unfinished 60000, slow 70000, empty 80000',
    null,
  ],
  ['nothing is expected', {}, WAITING, 99_000, '', null],
]

for (const [why, terms, run, now, expected, checkAt] of table) {
  test(why, () => {
    const { violations: found, left } = checkExpectations(terms, run, now)
    assert.equal(found.map(({ kind, dueAt }) => `${kind} ${dueAt}`).join(', '), expected)
    assert.equal(left?.checkAt ?? null, checkAt)
  })
}

test('a reported violation is dropped from the terms, and the other terms stay unchanged', () => {
  const { left } = checkExpectations({ ...START, ...END, ...LONG }, WAITING, 10_500)
  assert.deepEqual(left?.terms, { ...END, ...LONG })
})

test('the first check is at the earliest possible violation', () => {
  const firsts: [ExpectationTerms, number][] = [
    [START, 10_500],
    [END, 60_500],
    [LONG, 21_500],
    [OUTPUT, 31_000],
    [{ ...END, ...LONG, ...OUTPUT }, 21_500],
    [{ typicalMultiple: { scheduleId: 1, times: 2 }, ...END }, 1_000],
  ]
  for (const [terms, at] of firsts) assert.equal(firstCheckAt(terms, 1_000), at)
})

test('checks at the requested times find the same violations as one check after the end', () => {
  for (let seed = 1; seed <= 500; seed += 1) {
    const pick = (n: number, most: number) => (Math.imul(seed * 31 + n, 0x9e3779b1) >>> 8) % most
    const startedAt = pick(1, 90_000)
    const finishedAt = startedAt + pick(2, 90_000)
    const terms = { startBy: pick(3, 90_000), endBy: pick(4, 150_000), longestMs: pick(5, 80_000) }
    const seenAt = (now: number): ObservedRun =>
      now >= finishedAt
        ? ended(startedAt, finishedAt)
        : now >= startedAt
          ? started(startedAt)
          : WAITING
    const along: string[] = []
    let left: { terms: ExpectationTerms; checkAt: number } | null = {
      terms,
      checkAt: firstCheckAt(terms, 0),
    }
    while (left) {
      const judged = checkExpectations(left.terms, seenAt(left.checkAt), left.checkAt)
      assert.ok(judged.left === null || judged.left.checkAt > left.checkAt, `seed ${seed}`)
      along.push(...judged.violations.map(({ kind }) => kind))
      left = judged.left
    }
    const once = checkExpectations(terms, ended(startedAt, finishedAt), 1e9).violations.map(
      ({ kind }) => kind,
    )
    assert.deepEqual(along.toSorted(), once.toSorted(), `seed ${seed}`)
  }
})
