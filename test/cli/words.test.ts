import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { quoteWords } from '../../src/cli/args/quote-words.ts'
import { runProgram } from '../../src/cli/program.ts'
import { type OpenApi, openApi, ROOT_TOKEN } from '../api/open-api.ts'
import { createFakeTerminal } from './fake-terminal.ts'

let api: OpenApi
const cleanups: (() => void | Promise<void>)[] = []

before(async () => {
  const t = { after: (end: () => Promise<void>) => void cleanups.push(end), diagnostic() {} }
  api = await openApi(t as never)
  await api.startWorker()
  const input = { date: { type: 'string', format: 'date' } }
  await api.call('PUT', '/v1/jobs/hello', { body: { run: 'true', input } })
})
after(async () => {
  for (const end of cleanups.toReversed()) await end()
})

async function punctual(...argv: string[]) {
  const env = { PUNCTUAL_SERVER: api.url, PUNCTUAL_TOKEN: ROOT_TOKEN }
  const terminal = createFakeTerminal({ env, columns: 200 })
  const code = await runProgram(argv, { terminal, version: '9.9.9', addServerCommands: () => {} })
  return { code, ...terminal.written }
}

const table: [argv: string[], err: RegExp][] = [
  [['runs', 'colour:red'], /✖ the filter has the unknown key "colour"; keys are state, job/],
  [
    ['runs', '-n', '0'],
    /✖ --limit must be a whole number, 1 to 500\n {2}help: {2}punctual runs --help says/,
  ],
  [['run', 'hello', '--priority', '99'], /✖ --priority must be a whole number/],
  [['run', 'hello', '--at', 'x'], /✖ --at: /],
  [['run', 'hello', '--timeout', 'x'], /✖ --timeout is not a duration: "x"/],
  [['run', 'hello', '--label', 'a=b c'], /✖ --label: "a=b c" is not a label/],
  [['run', 'hello', '--tag', 'a b=c'], /✖ --tag has a name that is not allowed: a b/],
  [['run', '--memory', '5', '--', 'true'], /✖ --memory is not a size/],
  [['run', '--http', 'x'], /✖ --http is not a URL/],
  [['run', '--image', 'A B', '--', 'true'], /✖ --image is not the name of an image/],
  [['run', 'hello', '--date', 'x'], /✖ the input date must be a date such as/],
  [['run', '--', 'x'.repeat(200_000)], /✖ word 1 of the command is 200000 bytes/],
  [['every', '5 minutes', 'hello', '--jitter', 'x'], /✖ --jitter is not a duration: "x"/],
  [['queue', 'set', 'mail', '--default-timeout', 'x'], /✖ --default-timeout is not a duration/],
  [['token', 'create', 'x', '--role', 'boss'], /✖ --role must be one of/],
  [['forecast', '--days', '9999'], /✖ --days must be a whole number, 1 to 366/],
  [['pause', 'nobody'], /✖ there is no job nobody\n {2}help: {2}punctual ls lists/],
  [['secret', 'set', '--nope'], /help: {2}punctual secret set --help says/],
  [['webhook', 'show', 'x'], /help: {2}punctual webhook ls lists them\./],
]
for (const [argv, err] of table) {
  const shown = argv.map((word) => word.slice(0, 20))
  test(`the command line uses the words that were typed: ${shown.join(' ')}`, async () => {
    const { out, err: stderr } = await punctual(...argv)
    assert.equal(out, '')
    assert.match(stderr, err)
    assert.doesNotMatch(stderr, /`(?:GET|POST|PUT)|named field/)
  })
}

test("with JSON output the API's problem is unchanged", async () => {
  const { err } = await punctual('runs', 'colour:red', '-o', 'json')
  const { field, detail } = JSON.parse(err) as { field: string; detail: string }
  assert.deepEqual([field, detail.startsWith('q has')], ['q', true])
  assert.match((await punctual('api', 'GET', '/v1/runs?limit=0')).err, /✖ limit must be/)
})

test('an ended run says how it ended', async () => {
  const waiting = (await punctual('run', '--queue', 'nobody', '--', 'true')).out.trim()
  await punctual('cancel', waiting)
  const again = await punctual('cancel', waiting)
  assert.equal(again.code, 9)
  assert.match(again.err, /✖ the run was already cancelled\n {2}help: .*punctual retry RUN/)
  await punctual('exec', '--job', 'bad', '--', 'false')
  assert.match((await punctual('cancel', 'bad@last')).err, /✖ the run has already failed\n/)
})

test('a suggested command can be copied, whatever words it contains', async () => {
  assert.equal(quoteWords(['echo', 'a b', "it's", '$HOME', '']), `echo 'a b' 'it'\\''s' '$HOME' ''`)
  const words = ['echo', 'hello world', "it's"]
  const run = await punctual('run', ...words)
  assert.match(run.err, /^ {2}next: {2}punctual run -- echo 'hello world' 'it'\\''s'$/m)
  const every = await punctual('every', '15 minutes', ...words)
  assert.match(every.err, /^ {2}next: {2}punctual every '15 minutes' -- echo 'hello world' /m)
  const at = await punctual('at', 'in 2 hours', ...words)
  assert.match(at.err, /^ {2}next: {2}punctual at 'in 2 hours' -- echo 'hello world' /m)
})
