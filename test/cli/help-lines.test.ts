import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { runProgram } from '../../src/cli/program.ts'
import { reportError } from '../../src/cli/errors/report-error.ts'
import { freePort } from '../support/free-port.ts'
import { openHome } from '../support/punctual-home.ts'
import { waitFor } from '../support/wait-for.ts'
import { createFakeTerminal } from './fake-terminal.ts'

/** The next answers: a status, and the code of the problem. */
let ready = 200
let answer: [status: number, code: string] = [401, 'unauthorized']
const server = createServer((request, response) => {
  const isReadiness = request.url === '/readyz'
  const [status, code] = isReadiness ? [ready, ''] : answer
  const hint = 'Send `Authorization: Bearer <token>`'
  const problem = { type: 'about:blank', title: 'x', status, code, detail: 'something', hint }
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(isReadiness ? { reason: 'the database does not answer' } : problem))
})
let url: string
before(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(() => server.close())

async function punctual(...argv: string[]) {
  const terminal = createFakeTerminal({ env: { PUNCTUAL_SERVER: url }, columns: 500 })
  const code = await runProgram(argv, { terminal, version: '9.9.9', addServerCommands: () => {} })
  return { code, ...terminal.written }
}

test('with no token, a wrong one or a weak one, the help names flags of this program', async () => {
  answer = [401, 'unauthorized']
  const none = await punctual('runs')
  assert.equal(none.code, 7)
  assert.match(none.err, /^✖ http:\S+ requires a token, and none was given or found here\n/)
  assert.match(none.err, / {2}help: {2}Give a token with --token or PUNCTUAL_TOKEN, .*context add/)
  const wrong = await punctual('runs', '--token', 'x')
  assert.match(wrong.err, /^✖ http:\S+ does not accept this token: it is revoked,/)
  const program = JSON.parse((await punctual('runs', '-o', 'json')).err) as Record<string, string>
  assert.equal(program['code'], 'unauthorized')
  answer = [403, 'forbidden']
  const weak = await punctual('runs', '--token', 'x')
  assert.match(weak.err, / {2}help: {2}Give a token that may do this with --token/)
  for (const { err } of [none, wrong, weak]) assert.doesNotMatch(err, /Authorization|Bearer/)
  assert.doesNotMatch(program['hint'] ?? '', /Authorization|Bearer/)
})

test('doctor suggests no token while the database is down, and one when the token is refused', async () => {
  ready = 503
  answer = [503, 'store_unavailable']
  const down = await punctual('doctor')
  assert.equal(down.code, 1)
  assert.match(down.out, /✖ it is not ready: the database does not answer\n {2}help: {2}Look at/)
  assert.doesNotMatch(down.out, /token|Bearer/)
  ready = 200
  answer = [401, 'unauthorized']
  assert.match((await punctual('doctor')).out, /requires a token.*\n {2}help: {2}Give a token with/)
})

const systemErrors: [why: string, error: () => unknown, message: RegExp][] = [
  [
    'a file of another user',
    () => Object.assign(new Error('EACCES'), { code: 'EACCES', path: '/x/y', syscall: 'open' }),
    /^✖ \/x\/y: permission denied \(EACCES\)\n {2}help: {2}Look at its owner .* ls -ld \/x\/y\n/,
  ],
  [
    'a port where nothing listens',
    () => connectTo(1),
    /^✖ 127\.0\.0\.1:1: nothing listens there \(ECONNREFUSED\)\n {2}help: {2}Check the address/,
  ],
  [
    'a name with several addresses, of which none answers',
    () =>
      Object.assign(
        new AggregateError([
          { address: '::1', port: 1 },
          { address: '127.0.0.1', port: 1 },
        ]),
        { code: 'ECONNREFUSED' },
      ),
    /^✖ ::1:1, 127\.0\.0\.1:1: nothing listens there \(ECONNREFUSED\)\n/,
  ],
  [
    'an error that is not a system error',
    () => new Error('oops'),
    /^✖ oops\n {2}code: {2}unexpected/,
  ],
]
for (const [why, make, output] of systemErrors) {
  test(`${why}: the error is readable, and has a help line if one is known`, async () => {
    const terminal = createFakeTerminal({ env: {}, columns: 500 })
    const error = await make()
    assert.equal(
      reportError(error, terminal, {
        command: 'punctual',
        flags: [],
        given: [],
        isForPrograms: false,
      }),
      1,
    )
    assert.match(terminal.written.err, output)
  })
}

function connectTo(port: number): Promise<unknown> {
  return new Promise((resolve) => connect({ host: '127.0.0.1', port }).once('error', resolve))
}

test('a missing database: what could not be reached, the setting, and no password', async (t) => {
  const home = openHome(t)
  const store = `postgres://ada:hunter22@127.0.0.1:${await freePort()}/jobs`
  const flags = ['--port', '0', '--data', home.dataDir, '--store', store]
  const { code, err } = await home.run(['server', ...flags])
  assert.equal(code, 1)
  assert.match(err, /✖ PostgreSQL at 127\.0\.0\.1:\d+ cannot be reached: .*\(ECONNREFUSED\)/)
  assert.match(err.replaceAll(/\s+/g, ' '), /help: Start PostgreSQL, or correct --store or PUNC/)
  assert.ok(!err.includes('hunter22'))
  const start = join(import.meta.dirname, '../../src/main/start.ts')
  const output = await new Promise<string>((resolve) => {
    const options = { env: home.env, cwd: home.dir }
    execFile(process.execPath, [start, ...flags], options, (_error, _out, text) => resolve(text))
  })
  assert.match(output, /^punctual: PostgreSQL at .*\n {2}help: {2}Start PostgreSQL/)
})

test('a worker whose server is not running yet keeps trying, and says what to check', async (t) => {
  const home = openHome(t)
  const at = `http://127.0.0.1:${await freePort()}`
  const { output, child } = home.start(['worker', '--server', at, '--token', 'x'])
  const help = /help: the worker keeps trying; check --server or PUNCTUAL_SERVER/
  await waitFor(() => help.test(output.err), { what: 'the help line' })
  assert.match(output.err, /cannot be reached \(ECONNREFUSED\)/)
  assert.equal(child.exitCode, null)
})
