import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { type CommandResult, openHome } from '../support/punctual-home.ts'
import { waitFor } from '../support/wait-for.ts'

// Real processes against a real server: the tests see what a shell sees.
const home = openHome({ after })
let viewer: string
/** A run that no worker will start. */
let waiting: string
const run = (...argv: string[]): Promise<CommandResult> =>
  home.run(argv, { PUNCTUAL_DATA: home.dataDir })

before(async () => {
  await home.up()
  viewer = (await run('token', 'create', 'ci', '--role', 'viewer')).out.trim()
  await run('api', 'PUT', '/v1/jobs/hello', '-d', '{"run": "echo hello"}')
  waiting = (await run('run', '--queue', 'nobody', '--', 'true')).out.trim()
  await run('exec', '--', 'false')
})

const NOWHERE = 'http://127.0.0.1:1'

const table: [why: string, argv: () => string[], code: number, err: RegExp][] = [
  ['done', () => ['run', 'hello', '--wait'], 0, /✔ succeeded/],
  ['help that was asked for', () => ['exec', '--help'], 0, /^$/],
  ['a doctor that found a problem', () => ['doctor'], 1, /^$/],
  ['no command', () => [], 2, /^Usage: punctual/],
  ['a missing command', () => ['cancle', 'x'], 2, /✖ .*\n  help:  Did you mean cancel\?/],
  ['an unknown flag', () => ['runs', '--limt', '3'], 2, /help:  Did you mean --limit\?/],
  ['an unknown format', () => ['runs', '-o', 'xml'], 2, /✖ .*'xml' is invalid/],
  ['a word too few', () => ['show'], 2, /help:  punctual show --help says/],
  ['a word too many', () => ['run', 'hello', 'world'], 2, /help:  To run a command, put -- before/],
  ['a name that names no run', () => ['show', 'what?'], 2, /✖ "what\?" does not name a run/],
  ['a body that is not JSON', () => ['api', 'POST', '/v1/runs', '-d', '{'], 2, /body is not JSON/],
  ['a request that is not valid', () => ['run', 'hello', '--priority', '99'], 2, /priority/],
  [
    'cores that are not a number',
    () => ['exec', '--cpu', 'all', '--', 'true'],
    125,
    /--cpu is "all"/,
  ],
  [
    'memory without a unit',
    () => ['run', '--memory', '5', '--', 'true'],
    2,
    /--memory is not a size/,
  ],
  ['an unsupported shell', () => ['completion', 'tcsh'], 2, /choices are bash, zsh, fish/],
  ['a wait that is not a time', () => ['wait', '@last', '--timeout', 'soon'], 2, /--timeout/],
  [
    'a run that failed',
    () => ['run', '--wait', '--', 'false'],
    3,
    /✖ failed .*\n  next:  punctual logs/,
  ],
  ['a wait for one that failed', () => ['wait', '@last-failed'], 3, /✖ failed/],
  [
    'a wait that is over',
    () => ['wait', waiting, '--timeout', '1ms'],
    5,
    /still ready .*\n  next: /,
  ],
  ['a missing run', () => ['show', 'run_00000000000'], 6, /code:  run_not_found/],
  ['a missing job', () => ['pause', 'nobody'], 6, /code:  job_not_found/],
  ['a token that is wrong', () => ['--token', 'wrong', 'runs'], 7, /code:  unauthorized/],
  ['a token that may not', () => ['--token', viewer, 'run', 'hello'], 7, /code:  forbidden/],
  ['no server', () => ['--server', NOWHERE, 'runs'], 8, /code:  server_unreachable/],
  ['no token for a worker', () => ['--server', NOWHERE, 'worker'], 7, /help:  Give one with PUNC/],
  ['a worker of no size', () => ['worker', '--slots', 'x'], 2, /--slots is "x" and not a whole/],
  ['one that is final already', () => ['cancel', '@last-failed'], 9, /code:  run_is_final/],
  ['the code of a command', () => ['exec', '--', 'sh', '-c', 'exit 42'], 42, /^$/],
  ['a command that was killed', () => ['exec', '--', 'sh', '-c', 'kill -9 $$'], 137, /^$/],
  ['a signal few know', () => ['exec', '--', 'sh', '-c', 'kill -XCPU $$'], 152, /^$/],
  [
    'a missing command',
    () => ['exec', '--', '/no/such'],
    125,
    /✖ run_\w+ has failed: .*\/no\/such/,
  ],
  ['exec without a command', () => ['exec'], 125, /✖ missing required argument/],
  ['exec with a wrong flag', () => ['exec', '--tag', 'x', '--', 'true'], 125, /not NAME=VALUE/],
  [
    'exec with a wrong token',
    () => ['--token', 'wrong', 'exec', '--', 'true'],
    125,
    /unauthorized/,
  ],
]
for (const [why, argv, code, err] of table) {
  test(`${why}: ${code}`, async () => {
    const done = await run(...argv())
    assert.equal(done.code, code, done.err)
    assert.match(done.err, err)
    // Messages go to standard error: a reader of standard output gets only data.
    if (/✖/.test(done.err)) assert.equal(done.out, '')
  })
}

test('a run that was cancelled: 4', async () => {
  const id = (await run('run', '--queue', 'nobody', '--', 'true')).out.trim()
  assert.equal((await run('cancel', id)).out, `${id} is cancelled\n`)
  const { code, err } = await run('wait', id)
  assert.equal(code, 4)
  assert.match(err, /⊘ cancelled/)
})

for (const argv of [['exec'], ['run', '--wait']]) {
  test(`${argv.join(' ')}, interrupted without a terminal: 130, and the run continues`, async () => {
    const command = [...argv, '--', 'sh', '-c', 'echo up; sleep 1000']
    const { child, output, ended } = home.start(command, { PUNCTUAL_DATA: home.dataDir })
    await waitFor(() => output.out === 'up\n', { what: 'the run to be up' })
    child.kill('SIGINT')
    assert.equal(await ended, 130)
    const id = /▶ (run_\w+) continues in the background\n {2}next: {2}punctual logs -f/.exec(
      output.err,
    )?.[1]
    assert.match((await run('show', id ?? '')).out, /▶ running/)
    assert.equal((await run('cancel', id ?? '')).code, 0)
  })
}

/** An HTTP server that always gives the same answer. */
async function answering(status: number, type: string, body: string) {
  const server = createServer((_request, response) => {
    response.writeHead(status, { 'content-type': type }).end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() }
}

const problem = JSON.stringify({
  type: '/errors/internal',
  title: 'Internal',
  status: 500,
  code: 'internal',
  detail: 'the server failed to handle this request',
  hint: 'Report it.',
  request_id: 'r1',
})
const answers: [why: string, status: number, body: string, code: number, err: RegExp][] = [
  ['a server that fails: 1', 500, problem, 1, /✖ the server failed .*\n.*\n  code:  internal/],
  ['a page of another server: 8', 200, '<html>', 8, /✖ the server at \S+ is not Punctual/],
  ['a proxy without its server: 8', 502, '<html>', 8, /is not Punctual\n  help: /],
  ['an error of another server: 8', 404, '{"error":"no"}', 8, /is not Punctual/],
]
for (const [why, status, body, code, err] of answers) {
  test(why, async (t) => {
    const { url, close } = await answering(status, 'application/json', body)
    t.after(close)
    const done = await run('--server', url, 'runs')
    assert.deepEqual([done.code, done.out], [code, ''])
    assert.match(done.err, err)
  })
}

const troubles: [why: string, argv: string[], code: string][] = [
  ['what the server says', ['show', 'run_00000000000'], 'run_not_found'],
  ['what is found here', ['show', 'zzzzzz'], 'not_found'],
  ['wrong usage', ['cancle'], 'usage'],
  ['no server', ['--server', NOWHERE, 'runs'], 'server_unreachable'],
  ['a wait that is over', ['wait', '@last', '--timeout', '0ms'], 'wait_timed_out'],
]
for (const [why, argv, code] of troubles) {
  test(`a problem as JSON: ${why}`, async () => {
    await run('run', '--queue', 'nobody', '--', 'true')
    const done = await run('-o', 'json', ...argv)
    const lines = done.err.trim().split('\n')
    const output = JSON.parse(lines.at(-1) ?? '') as { code: string; detail: string; hint: string }
    assert.equal(output.code, code)
    assert.ok(output.detail.length > 0 && output.hint.length > 0)
    assert.equal(done.out, '')
  })
}

test('words of a command are not read as a format', async () => {
  const { err } = await run('--token', 'wrong', 'exec', '--', 'echo', '-o', 'json')
  assert.match(err, /^✖ /)
})

const documents: string[][] = [
  ['ls'],
  ['ps'],
  ['runs'],
  ['runs', 'state:skipped'],
  ['show', '@last'],
  ['why', '@last'],
  ['wait', '@last-failed'],
  ['run', 'hello'],
  ['run', 'hello', '--wait'],
  ['retry', '@last-failed', '@last-failed'],
  ['pause', 'hello'],
  ['resume', 'hello'],
  ['pause', '--queue', 'mail'],
  ['resume', '--all'],
  ['token', 'create', 'one'],
  ['token', 'ls'],
  ['token', 'revoke', 'tok_2'],
  ['doctor'],
  ['version'],
]
for (const argv of documents) {
  test(`${argv.join(' ')} -o json is one document`, async () => {
    const { out } = await run('-o', 'json', ...argv)
    const value = JSON.parse(out) as unknown
    assert.ok(typeof value === 'object' && value !== null)
    if (argv[1] === 'state:skipped') assert.deepEqual(value, [])
  })
}

test('jsonl is one object per line, name one name per line', async () => {
  const ids = (await run('runs', '-o', 'name')).out.trim().split('\n')
  assert.ok(ids.length > 1 && ids.every((id) => /^run_[0-9a-z]{11}$/.test(id)))
  const lines = (await run('runs', '-o', 'jsonl')).out.trim().split('\n')
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { id: string }).id),
    ids,
  )
  const none = await run('runs', 'state:skipped', '-o', 'jsonl')
  assert.deepEqual(none, { code: 0, out: '', err: '' })
})
