import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { runProgram } from '../../src/cli/program.ts'
import { type OpenApi, openApi, ROOT_TOKEN } from '../api/open-api.ts'
import { createFakeTerminal } from './fake-terminal.ts'

let api: OpenApi
const cleanups: (() => void | Promise<void>)[] = []
const RETRY = { max: 2, delay: '1ms', jitter: 0 }
const FLAKY = `test "$PUNCTUAL_ATTEMPT" = 3 || exit 3`
const NIGHTLY = {
  steps: {
    extract_all_orders: { run: 'true' },
    load_into_warehouse: {
      needs: 'extract_all_orders',
      each: ['eu-west-1', 'us', { asia: 3 }],
      run: `test "$REGION" != us`,
      env: { REGION: '${{ item }}', SAME: 'for all' },
    },
    flaky_aggregation: { needs: 'extract_all_orders', run: FLAKY, retry: RETRY },
    publish_the_report: { needs: 'load_into_warehouse', run: 'true' },
    spoken: { each: [1, 2], run: 'echo "${{ item }}"' },
    given: { each: ['a'], job: 'take', with: { part: '${{ item }}', all: 1 } },
  },
}

before(async () => {
  const t = { after: (end: () => Promise<void>) => void cleanups.push(end), diagnostic() {} }
  api = await openApi(t as never)
  await api.startWorker()
  await api.call('PUT', '/v1/jobs/take', { body: { run: 'true' } })
  const { status, body } = await api.call('PUT', '/v1/jobs/nightly', { body: NIGHTLY })
  assert.equal(status, 201, JSON.stringify(body))
})
after(async () => {
  for (const end of cleanups.toReversed()) await end()
})

async function punctual(columns: number, ...argv: string[]) {
  const env = { PUNCTUAL_SERVER: api.url, PUNCTUAL_TOKEN: ROOT_TOKEN }
  const terminal = createFakeTerminal({ env, columns })
  const code = await runProgram(argv, { terminal, version: '9.9.9', addServerCommands: () => {} })
  return { code, ...terminal.written }
}

test('steps fit in 80 columns and show the number of their attempts', async () => {
  const waited = await punctual(80, 'run', 'nightly', '--wait')
  assert.equal(waited.code, 3)
  assert.match(waited.err, /^✔ succeeded {2}flaky_aggregation {2}\S+(?: \S+)? {2}attempt 3$/m)
  const narrow = (await punctual(80, 'steps', 'nightly')).out
  for (const line of narrow.split('\n')) assert.ok(line.length <= 80, line)
  assert.match(narrow, /^STEP +STATE +TOOK +TRIES +WHY$/m)
  assert.match(narrow, /^├─ load_into_warehouse \S* +✖ failed .* 1 of 3 items failed\.$/m)
  assert.match(narrow, /^└─ flaky_aggregation +✔ succeeded +\S+(?: \S+)? +3$/m)
  const wide = (await punctual(160, 'steps', 'nightly')).out
  assert.match(wide, /^STEP +STATE +TOOK +TRIES +WHEN +RUN +WHY$/m)
  const runs = (await punctual(80, 'runs', 'job:nightly/flaky_aggregation')).out
  assert.match(runs, /^RUN +JOB +STATE +TOOK +TRIES +CREATED/)
})

test('items of a fan-out show their value', async () => {
  const items = (await punctual(80, 'steps', 'nightly', 'load_into_warehouse')).out
  assert.match(items, /^ITEM +VALUE +STATE +TOOK +RUN +WHY$/m)
  assert.match(items, /^0 +eu-west-1 +✔ succeeded/m)
  assert.match(items, /^1 +us +✖ failed .* exited with code 1$/m)
  assert.match(items, /^2 +\{"asia":3\} +✔ succeeded/m)
  assert.match((await punctual(80, 'steps', 'nightly', 'spoken')).out, /^1 +2 +✔ succeeded/m)
  assert.match((await punctual(80, 'steps', 'nightly', 'given')).out, /^0 +(?:a 1|1 a) +/m)
})
