import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addEvent, newResult, type FileResult, type TestEvent } from './test-events.ts'
import { closingReport, fileLine, isSuccess, totalsLine } from './test-report.ts'

const FILE = 'src/core/retry.test.ts'

function failure(failureType: string, cause: unknown): NonNullable<TestEvent['data']['details']> {
  return { type: 'test', error: Object.assign(new Error('outer', { cause }), { failureType }) }
}

const pass: TestEvent = { type: 'test:pass', data: { name: 'works', details: { type: 'test' } } }
const fail: TestEvent = {
  type: 'test:fail',
  data: { name: 'breaks', details: failure('testCodeFailure', new Error('1 is not 2')) },
}
const skip: TestEvent = {
  type: 'test:pass',
  data: { name: 'on Redis', skip: 'apt-get install it' },
}

function result(...events: TestEvent[]): FileResult {
  const made = newResult(FILE)
  for (const event of events) addEvent(made, event)
  return made
}

const table: [why: string, event: TestEvent, totals: string][] = [
  ['a passing test counts', pass, '1 passed, 0 failed'],
  ['a failing test counts', fail, '0 passed, 1 failed'],
  ['a skipped test is neither', skip, '0 passed, 0 failed, 1 skipped'],
  [
    'a test still to be written is skipped, even though it fails',
    { type: 'test:fail', data: { name: 'later', todo: true, details: failure('x', 'y') } },
    '0 passed, 0 failed, 1 skipped',
  ],
  [
    'a passing suite is not a test',
    { type: 'test:pass', data: { name: 'suite', details: { type: 'suite' } } },
    '0 passed, 0 failed',
  ],
  [
    'a suite whose hook threw is a failure',
    { type: 'test:fail', data: { name: 'suite', details: failure('hookFailed', new Error('no')) } },
    '0 passed, 1 failed',
  ],
  [
    'a parent does not repeat the failure of its child',
    { type: 'test:fail', data: { name: 'suite', details: failure('subtestsFailed', '1 failed') } },
    '0 passed, 0 failed',
  ],
  [
    'a file without tests is a failure',
    { type: 'test:pass', data: { name: FILE, file: FILE, details: { type: 'test' } } },
    '0 passed, 1 failed',
  ],
  [
    'other events count for nothing',
    { type: 'test:complete', data: { name: 'works' } },
    '0 passed, 0 failed',
  ],
]
for (const [why, event, totals] of table) {
  test(why, () => assert.equal(totalsLine([result(event)]), totals))
}

const verdicts: [why: string, results: FileResult[], success: boolean][] = [
  ['all passed is success', [result(pass), result(pass)], true],
  ['skips do not spoil it', [result(pass, skip)], true],
  ['one failure anywhere is failure', [result(pass), result(pass, fail)], false],
  ['nothing ran is failure', [], false],
  ['only skips is failure', [result(skip)], false],
]
for (const [why, results, success] of verdicts) {
  test(why, () => assert.equal(isSuccess(results), success))
}

test('the line of a file shows its result', () => {
  const progress = { done: 7, of: 439 }
  const line = fileLine({ ...result(pass, fail, skip), durationMs: 1234 }, progress)
  assert.equal(line, `FAIL [  7/439]   1.23 s  ${FILE}  (1 passed, 1 failed, 1 skipped)`)
})

test('the closing report explains failures, names skips and ends with the totals', () => {
  const noise: TestEvent = { type: 'test:stderr', data: { message: 'connection lost\n' } }
  const report = closingReport([{ ...result(noise, fail, skip), durationMs: 2000 }], ['SQLite 3'])
  assert.match(report, /✖ breaks\n +Error: 1 is not 2/)
  assert.match(report, /The file printed:\n +connection lost/)
  assert.match(report, /servers: SQLite 3\n/)
  assert.match(report, /on Redis — apt-get install it\n/)
  assert.match(report, /slowest:\n +2\.00 s {2}src/)
  assert.match(report, /\n0 passed, 1 failed, 1 skipped$/)
})

test('a failure is named with the suites that contain it', () => {
  const start = (name: string, nesting: number): TestEvent => ({
    type: 'test:start',
    data: { name, nesting },
  })
  const nested = { type: 'test:fail', data: { ...fail.data, nesting: 1 } }
  const { failures } = result(
    start('earlier', 0),
    start('Store', 0),
    start('breaks', 1),
    nested,
    fail,
  )
  assert.deepEqual(
    failures.map(({ name }) => name),
    ['Store › breaks', 'breaks'],
  )
})

test('a file that had to be stopped names the test that was running', () => {
  const began = (name: string): TestEvent => ({ type: 'test:dequeue', data: { name } })
  const ended: TestEvent = { type: 'test:complete', data: { name: 'quick' } }
  const stopped: TestEvent = {
    type: 'test:fail',
    data: { name: FILE, file: FILE, details: failure('testAborted', undefined) },
  }
  const { failures } = result(began('quick'), began('stuck'), ended, stopped)
  assert.match(failures[0]?.detail ?? '', /still open: stuck$/)
})

test('output of a file that passed is not repeated', () => {
  const noise: TestEvent = { type: 'test:stdout', data: { message: 'chatter\n' } }
  assert.doesNotMatch(closingReport([result(noise, pass)], []), /chatter/)
})
