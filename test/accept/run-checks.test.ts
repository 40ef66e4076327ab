import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Check, CheckReport } from './check.ts'
import { runChecks } from './run-checks.ts'

const passes: Check = {
  id: 'H1',
  title: 'a job runs',
  run: async ({ figure }: CheckReport) => figure('p99', '12 ms'),
}
const fails: Check = {
  id: 'H2',
  title: 'a job survives',
  run: async ({ figure }: CheckReport) => {
    figure('lost', 3)
    throw new Error('three runs are missing')
  },
}
// oxlint-disable-next-line typescript/prefer-promise-reject-errors -- this is the case to survive
const failsSilently: Check = { id: 'H3', title: 'odd', run: () => Promise.reject() }

async function transcript(checks: Check[]): Promise<{ success: boolean; printed: string }> {
  const lines: string[] = []
  const success = await runChecks(checks, (line) => lines.push(line))
  return { success, printed: lines.join('\n') }
}

test('a check that returns has passed, with its figures on the line', async () => {
  const { success, printed } = await transcript([passes])
  assert.equal(success, true)
  assert.match(printed, /^PASS H1 {2}a job runs {2}\[p99 12 ms, \d+\.\d s\]$/m)
  assert.match(printed, /1 of 1 checks passed$/)
})

test('a check that throws has failed, its figures and reason are shown, and the next one still runs', async () => {
  const { success, printed } = await transcript([fails, passes])
  assert.equal(success, false)
  assert.match(
    printed,
    /^FAIL H2 {2}a job survives {2}\[lost 3, .*\]\n +Error: three runs are missing/m,
  )
  assert.match(printed, /^PASS H1/m)
  assert.match(printed, /1 of 2 checks passed; failed: H2$/)
})

const failures: [why: string, checks: Check[]][] = [
  ['a rejection without a reason is a failure', [failsSilently]],
  ['no checks is not success', []],
]
for (const [why, checks] of failures) {
  test(why, async () => assert.equal((await transcript(checks)).success, false))
}
