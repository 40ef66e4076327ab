import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { runProgram } from '../../src/cli/program.ts'
import { serversDirectory, startOfProcess } from '../../src/cli/server/running-servers.ts'
import { type Failure } from '../../src/cli/errors/failure.ts'
import { findServer } from '../../src/cli/server/server-address.ts'
import { publishServerFile } from '../../src/main/data-directory/server-file.ts'
import { freePort } from '../support/free-port.ts'
import { createFakeTerminal } from './fake-terminal.ts'

/** Larger than any process id, so no process has it. */
const ENDED = 2 ** 30

let dir: string
let env: Record<string, string>

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'punctual-choice-'))
  env = { XDG_STATE_HOME: join(dir, 'state'), XDG_CONFIG_HOME: join(dir, 'config') }
  mkdirSync(serversDirectory(env), { recursive: true })
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** Files of a server with its data in `name`; its process is this one. */
function pretend(name: string, { port = 1, pid = process.pid, isListed = true } = {}) {
  const dataDir = join(dir, name)
  mkdirSync(dataDir, { recursive: true })
  const tokenFile = join(dataDir, 'admin-token')
  writeFileSync(tokenFile, `token-of-${name}\n`, { mode: 0o600 })
  const server = { url: `http://127.0.0.1:${port}`, tokenFile, dataDir, pid }
  const text = JSON.stringify(server)
  writeFileSync(join(dataDir, 'server.json'), text, { mode: 0o600 })
  // Named after a separate number, because several of them share one process.
  if (isListed) writeFileSync(join(serversDirectory(env), `${port}.json`), text, { mode: 0o600 })
  return server
}

const find = (flags: Parameters<typeof findServer>[0] = {}, cwd = dir) =>
  findServer(flags, { env, cwd })

function contexts(value: object) {
  mkdirSync(join(dir, 'config/punctual'), { recursive: true })
  const path = join(dir, 'config/punctual/contexts.json')
  writeFileSync(path, JSON.stringify(value), { mode: 0o600 })
  return path
}

function begin(argv: readonly string[], cwd = dir, input?: string) {
  const terminal = createFakeTerminal({ env, cwd, input })
  const code = runProgram(argv, { terminal, version: '9.9.9', addServerCommands: () => {} })
  return code.then((value) => ({ code: value, ...terminal.written }))
}

test('the only running server of a user is found; with several, none is chosen', () => {
  assert.deepEqual(find().urls, ['http://127.0.0.1:7420'])
  assert.equal(find().chosenAs, 'the default')
  const { url } = pretend('a')
  assert.deepEqual(find(), {
    urls: [url],
    token: 'token-of-a',
    chosenAs: 'the only one of yours that is running',
  })
  pretend('b', { port: 2 })
  assert.throws(find, (error: Failure) => {
    assert.equal(error.code, 'server_not_chosen')
    assert.equal(error.exitCode, 2)
    const places = error.list.map((line) => line.replace(dir, ''))
    assert.deepEqual(places, ['http://127.0.0.1:1  /a', 'http://127.0.0.1:2  /b'])
    return true
  })
})

test('without a choice the error lists the servers, as text and as JSON', async () => {
  pretend('a')
  pretend('b', { port: 2 })
  const people = await begin(['cancel', '@last'])
  assert.equal(people.code, 2)
  const list = `  http://127.0.0.1:1  ${dir}/a\n  http://127.0.0.1:2  ${dir}/b\n`
  assert.match(people.err, /^✖ 2 servers of yours are running, and none was chosen\n/)
  assert.ok(people.err.includes(list), people.err)
  assert.match(people.err, / {2}help: {2}Choose one with --server URL/)
  const programs = JSON.parse((await begin(['runs', '-o', 'json'])).err) as Record<string, string>
  assert.equal(programs['code'], 'server_not_chosen')
  assert.match(programs['detail'] ?? '', /\nhttp:\/\/127\.0\.0\.1:2 /)
})

test('an explicit address wins, and the token of a local server is sent only to that server', () => {
  pretend('a')
  pretend('b', { port: 2 })
  const at = (...server: string[]) => find({ server })
  assert.deepEqual(at('http://127.0.0.1:2'), { urls: ['http://127.0.0.1:2'], token: 'token-of-b' })
  assert.equal(at('http://127.0.0.1:3').token, undefined)
  assert.equal(at('http://127.0.0.1:2,http://127.0.0.1:3').token, undefined)
  env['PUNCTUAL_SERVER'] = 'http://127.0.0.1:1'
  assert.equal(find().token, 'token-of-a')
  assert.equal(find().chosenAs, undefined)
  assert.deepEqual(at('http://127.0.0.1:2').urls, ['http://127.0.0.1:2'])
  env['PUNCTUAL_TOKEN'] = 'mine'
  assert.equal(at('http://127.0.0.1:2').token, 'mine')
  assert.equal(find({ token: 'flag' }).token, 'flag')
  assert.throws(() => at('ftp://x'), /is not the address of a server/)
  assert.throws(() => find({ server: ['http://x'], context: 'y' }), /both name a server/)
})

test('the data directory here or above decides, even while its server is stopped', () => {
  pretend('elsewhere')
  const { url, dataDir } = pretend('shop/.punctual', { port: 2, isListed: false })
  const below = join(dir, 'shop/deep/er')
  mkdirSync(below, { recursive: true })
  assert.deepEqual(find({}, below).urls, [url])
  assert.equal(find({}, below).chosenAs, `data in ${dataDir}`)
  rmSync(join(dataDir, 'server.json'))
  contexts({ current: 'prod', contexts: { prod: { server: 'http://prod:1' } } })
  assert.throws(
    () => find({}, below),
    (error: Failure) => {
      assert.equal(error.message, `no server is running on the data in ${dataDir}`)
      assert.equal(error.exitCode, 8)
      assert.match(error.list.join(), /^http:\/\/127\.0\.0\.1:1 /)
      return true
    },
  )
  assert.deepEqual(find({ context: 'prod' }, below).urls, ['http://prod:1'])
  assert.deepEqual(
    find().urls,
    ['http://prod:1'],
    'without a server in the directory, the context counts',
  )
})

test('an explicit data directory whose server is stopped leads to no other server', () => {
  const { dataDir } = pretend('a', { pid: ENDED })
  pretend('b', { port: 2 })
  env['PUNCTUAL_DATA'] = dataDir
  assert.throws(find, /no server is running on the data in \S+a$/)
  assert.deepEqual(find({ server: ['http://127.0.0.1:2'] }).token, 'token-of-b')
})

test('a server that was killed is not treated as running', (t) => {
  const { url } = pretend('a')
  pretend('gone', { port: 2, pid: ENDED })
  const reused = { ...pretend('reused', { port: 3 }), processStart: 'long ago' }
  const list = serversDirectory(env)
  if (startOfProcess(process.pid) === undefined) rmSync(join(list, '3.json'))
  else writeFileSync(join(list, '3.json'), JSON.stringify(reused), { mode: 0o600 })
  assert.deepEqual(find().urls, [url])
  mkdirSync(join(dir, 'new'))
  const started = { url: 'http://127.0.0.1:4', dataDir: join(dir, 'new'), tokenFile: 'x', env }
  const remove = publishServerFile(started)
  t.after(remove)
  const left = readdirSync(list).toSorted()
  assert.deepEqual(left, ['1.json', `${process.pid}.json`].toSorted(), 'a start clears the list')
})

test('a context is a server with its token: added, listed without the token, used, removed', async () => {
  const add = ['context', 'add', 'prod', 'https://jobs.internal:7420', '--project', 'shop']
  const added = await begin([...add, '--token-stdin'], dir, 'pun_secret\n')
  assert.equal(added.code, 0, added.err)
  assert.equal(added.out, 'prod is https://jobs.internal:7420, with its token\n')
  const path = join(dir, 'config/punctual/contexts.json')
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.equal(statSync(join(dir, 'config/punctual')).mode & 0o777, 0o700)
  assert.match(readFileSync(path, 'utf8'), /pun_secret/)
  const listed = await begin(['context', 'ls', '-o', 'json'])
  assert.ok(!listed.out.includes('pun_secret'))
  assert.deepEqual(JSON.parse(listed.out), [
    {
      name: 'prod',
      server: 'https://jobs.internal:7420',
      project: 'shop',
      has_token: true,
      current: false,
    },
  ])
  const expected = { urls: ['https://jobs.internal:7420'], token: 'pun_secret', project: 'shop' }
  env['PUNCTUAL_TOKEN'] = 'of another server'
  assert.deepEqual(find({ context: 'prod' }), { ...expected, chosenAs: undefined })
  assert.equal(find({ context: 'prod', token: 'flag' }).token, 'flag')
  assert.notDeepEqual(find().urls, expected.urls, 'it is not current yet')
  assert.equal((await begin(['context', 'use', 'prod'])).code, 0)
  assert.deepEqual(find(), { ...expected, chosenAs: 'context prod' })
  assert.equal((await begin([...add])).code, 9)
  const wrong = await begin(['context', 'use', 'prdo'])
  assert.equal(wrong.code, 6)
  assert.match(wrong.err, /help: {2}Did you mean prod\?/)
  assert.equal((await begin(['context', 'use', '--none'])).code, 0)
  assert.equal(find().chosenAs, 'the default')
  env['PUNCTUAL_CONTEXT'] = 'prod'
  assert.deepEqual(find().urls, expected.urls)
  delete env['PUNCTUAL_CONTEXT']
  await begin(['context', 'use', 'prod'])
  assert.equal((await begin(['context', 'rm', 'prod'])).code, 0)
  assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), { contexts: {} })
})

const badFiles: [why: string, text: string, said: RegExp][] = [
  ['no JSON', '{', /contexts\.json is not JSON/],
  ['no object', 'null', /does not hold contexts/],
  ['no contexts', '{"contexts": null}', /does not hold contexts/],
  ['a context of the wrong kind', '{"contexts": {"a": 3}}', /does not hold contexts/],
  ['a token that is not text', '{"contexts": {"a": {"server": "x", "token": 1}}}', /does not hold/],
]
for (const [why, text, said] of badFiles) {
  test(`a contexts file with ${why} is refused with 78`, async () => {
    writeFileSync(contexts({}), text)
    const { code, err } = await begin(['runs'])
    assert.equal(code, 78, err)
    assert.match(err, said)
    assert.match(err, /\n {2}help: .+\n {2}code: {2}config_invalid\n$/)
  })
}

test('a contexts file that others can read is refused: it contains tokens', async () => {
  const path = contexts({ contexts: { prod: { server: 'http://x:1' } } })
  chmodSync(path, 0o644)
  const { code, err } = await begin(['-C', 'prod', 'runs'])
  assert.equal(code, 78)
  assert.match(err, /can be read by other users\n {2}help: {2}Run: chmod 600 \S+contexts\.json/)
})

// An HTTP server that answers every request like a server with one run.
const asked: { method: string; token: string | undefined }[] = []
let status = 200
const server = createServer((request, response) => {
  asked.push({ method: request.method ?? '', token: request.headers.authorization })
  const problem = { type: 'about:blank', title: 'x', status, code: 'run_is_final', detail: 'it is' }
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(status === 200 ? { id: 'run_00000000000', data: [] } : problem))
})
let port: number
before(async () => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  ;({ port } = server.address() as AddressInfo)
})
after(() => server.close())

test('a change names the server it was made on, unless the caller has named it', async () => {
  const url = `http://127.0.0.1:${port}`
  const change = ['api', 'POST', '/v1/x']
  pretend('a', { port })
  status = 200
  const only = `  server:  ${url}  (the only one of yours that is running)\n`
  assert.equal((await begin(change)).err, only)
  assert.equal((await begin([...change, '-o', 'json'])).err, only)
  assert.equal((await begin(['api', 'GET', '/v1/x'])).err, '', 'it changes nothing')
  assert.equal((await begin([...change, '--server', url])).err, '')
  env['PUNCTUAL_SERVER'] = url
  assert.equal((await begin(change)).err, '')
  delete env['PUNCTUAL_SERVER']
  const { dataDir } = pretend('shop/.punctual', { port, isListed: false })
  const here = await begin(change, join(dir, 'shop'))
  assert.equal(here.err, `  server:  ${url}  (data in ${dataDir})\n`)
  contexts({ current: 'prod', contexts: { prod: { server: url } } })
  assert.equal((await begin(change)).err, `  server:  ${url}  (context prod)\n`)
  assert.equal((await begin([...change, '-C', 'prod'])).err, '')
})

test('a refused change names the server in text; JSON is one document', async () => {
  pretend('a', { port })
  status = 409
  const people = await begin(['api', 'POST', '/v1/x'])
  assert.match(people.err, /^ {2}server: .*\n✖ it is\n/)
  const programs = await begin(['api', 'POST', '/v1/x', '-o', 'json'])
  assert.equal((JSON.parse(programs.err) as { code: string }).code, 'run_is_final')
  status = 200
})

test('with several addresses, the next one is used when nothing listens at the first', async () => {
  const { url } = pretend('a', { port })
  const gone = `http://127.0.0.1:${await freePort()}`
  const both = ['--server', gone, '--server', url, '--token', 'x']
  asked.length = 0
  assert.equal((await begin([...both, 'api', 'POST', '/v1/x'])).code, 0)
  env['PUNCTUAL_SERVER'] = `${gone}, ${url}`
  assert.equal((await begin(['api', 'GET', '/v1/x'])).code, 0)
  assert.deepEqual(
    asked.map(({ method }) => method),
    ['POST', 'GET'],
  )
})
