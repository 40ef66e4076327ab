import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, afterEach, before, test, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { WireExchangeAnswer, WireWelcome } from '../../src/core/wire/worker.ts'
import { waitFor } from '../support/wait-for.ts'
import { type TestNode, startTestNode } from './test-node.ts'
import {
  type HostileEnvironment,
  openHostileEnvironment,
  type HostileClient,
} from './hostile-environment.ts'
import { ROOT_TOKEN } from './open-api.ts'

// Every attack hits the same server, while a worker holds a run there and sends heartbeats.

let environment: HostileEnvironment
let testNode: TestNode
/** Open files and megabytes before the attacks. */
let calm: { files: number; mb: number }

before(async () => {
  environment = await openHostileEnvironment()
  testNode = await startTestNode(environment)
  assert.equal((await environment.call('POST', '/v1/runs', { job: 'calm' })).status, 201)
  calm = { files: environment.openFiles(), mb: environment.residentMb() }
})

const clients: HostileClient[] = []

afterEach(() => {
  for (const { socket } of clients.splice(0)) socket.destroy()
})

after(async () => {
  try {
    await testNode.stop()
  } finally {
    await environment.stop()
  }
})

const HEAD = `Host: localhost\r\nAuthorization: Bearer ${ROOT_TOKEN}\r\n`
const SUBMIT = `POST /v1/runs HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\n`
const DEFINE = `PUT /v1/jobs/endless HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\n`
/** Far above the usual value; unbounded growth exceeds it. */
const MAX_MB = 1_500

/** Waits until the connections of an attack are closed; nothing of it may remain. */
async function survives(t: TestContext, visitors: readonly HostileClient[]): Promise<void> {
  await waitFor(() => visitors.every((visitor) => visitor.isOver()), {
    what: 'the server to close every connection of the attack',
  })
  await isLeftAlone(t)
}

/** Our own ends stay open until the server has closed its ends by itself. */
async function isLeftAlone(t: TestContext): Promise<void> {
  await waitFor(() => environment.openFiles() <= calm.files + 5, { what: 'the server to let go' })
  await isWell(t)
}

async function isWell(t: TestContext): Promise<void> {
  const { count } = testNode.beats()
  assert.equal((await environment.call('GET', '/livez')).status, 200)
  assert.equal((await environment.call('POST', '/v1/runs', { job: 'after' })).status, 201)
  await waitFor(() => testNode.beats().count > count, { what: 'another heartbeat' })
  assert.deepEqual(testNode.trouble(), [], 'every heartbeat was answered, and the run still held')
  const mb = Math.round(environment.residentMb())
  assert.ok(mb < MAX_MB, `${mb} MB in use`)
  t.diagnostic(`${mb} MB; slowest heartbeat ${Math.round(testNode.beats().slowestMs)} ms`)
}

const visit = (count: number, bytes: string | Buffer = ''): HostileClient[] =>
  Array.from({ length: count }, () => {
    const visitor = environment.connect()
    visitor.socket.write(bytes)
    clients.push(visitor)
    return visitor
  })

/** Statuses of all answers, such as `200 408`. */
const statusesOf = ({ received }: HostileClient) =>
  Array.from(received().matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, status]) => status).join(' ')

/** Adds a piece to each request now and then, until the server closes the connections. */
async function drip(visitors: readonly HostileClient[], piece: string): Promise<void> {
  await waitFor(
    () => {
      for (const { socket, isOver } of visitors)
        if (!isOver() && socket.writable) socket.write(piece)
      return visitors.every(({ isOver }) => isOver())
    },
    { what: 'the server to lose patience', intervalMs: 200 },
  )
  assert.deepEqual([...new Set(visitors.map(statusesOf))], ['408'])
}

test('the server does not wait for headers that arrive one letter at a time', async (t) => {
  const visitors = visit(200, 'GET /livez HTTP/1.1\r\nHost: localhost\r\nX: ')
  await drip(visitors, 'x')
  await survives(t, visitors)
})

test('the server does not wait for bodies that arrive one letter at a time', async (t) => {
  const visitors = visit(200, `${SUBMIT}Content-Length: 100000\r\n\r\n{"job":"`)
  await drip(visitors, 'x')
  await survives(t, visitors)
})

/** Node raises its own limit as far as possible. */
const files = Number(
  /^Max open files +\S+ +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1],
)
const skip = files < 6_000 && `needs 6,000 open files, has ${files} (ulimit -Hn)`

test('5,000 idle connections block no other client, and are closed', { skip }, async (t) => {
  let most = 0
  for (let wave = 0; wave < 20; wave += 1) {
    // More at once than the accept queue holds would never arrive.
    const visitors = visit(250)
    const isHere = ({ socket }: HostileClient) => !socket.connecting
    await waitFor(() => visitors.every(isHere), { what: 'a wave to be there', intervalMs: 1 })
    most = Math.max(most, environment.openFiles())
  }
  // On a machine that accepts slowly, the first have been closed by then.
  assert.ok(most > 250, `${most} at once`)
  assert.equal((await environment.call('GET', '/livez')).status, 200)
  await isLeftAlone(t)
  const heard = new Set(clients.map(statusesOf).filter((statuses) => statuses !== ''))
  assert.deepEqual([...heard], ['408'])
})

const BOMB = gzipSync(Buffer.alloc(64 * 1024 * 1024))

test('compressed bodies are refused before anything is unpacked', async (t) => {
  const head = `${SUBMIT}Content-Encoding: gzip\r\nConnection: close\r\nContent-Length: `
  const visitors = visit(50, Buffer.concat([Buffer.from(`${head}${BOMB.length}\r\n\r\n`), BOMB]))
  await survives(t, visitors)
  assert.deepEqual([...new Set(visitors.map(statusesOf))], ['415'])
})

test('a body without end is cut off', async (t) => {
  const visitors = visit(20, `${DEFINE}Transfer-Encoding: chunked\r\n\r\n`)
  const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`
  await waitFor(
    () => {
      for (const { socket, isOver } of visitors) {
        if (!isOver() && socket.writableLength < 1_000_000) socket.write(chunk)
      }
      return visitors.every(({ isOver }) => isOver())
    },
    { what: 'the server to hang up', intervalMs: 1 },
  )
  await survives(t, visitors)
  // A client that is still sending may lose the answer to a broken connection. On a very busy machine a body of
  // the largest size times out before it is too large.
  const heard = new Set(visitors.map(statusesOf).filter((statuses) => statuses !== ''))
  for (const status of heard) assert.match(status, /^(?:413|408)$/)
})

const CLOSE = 'Connection: close\r\n'
const SMUGGLED = `GET /v1/jobs HTTP/1.1\r\n${HEAD}\r\n`

const answers: [why: string, bytes: string, status: number][] = [
  ['100,000 headers', `GET /livez HTTP/1.1\r\n${HEAD}${'a: b\r\n'.repeat(100_000)}\r\n`, 431],
  ['a URL of 64 KB', `GET /${'x'.repeat(65_536)} HTTP/1.1\r\n${HEAD}\r\n`, 414],
  [
    'two ways to say where a body ends',
    `${SUBMIT}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
    400,
  ],
  ['two lengths', `${SUBMIT}Content-Length: 4\r\nContent-Length: 5\r\n\r\n{"jo`, 400],
  ['a negative length', `${SUBMIT}Content-Length: -1\r\n\r\n`, 400],
  ['a length of 2^64', `${SUBMIT}Content-Length: 18446744073709551617\r\n\r\n`, 400],
  ['a length of 1 GB', `${SUBMIT}Content-Length: 1000000000\r\n\r\n`, 413],
  ['an unknown encoding', `${SUBMIT}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`, 400],
  ['chunked, and not the last', `${SUBMIT}Transfer-Encoding: chunked, x\r\n\r\n0\r\n\r\n`, 400],
  ['a chunk of zz bytes', `${SUBMIT}Transfer-Encoding: chunked\r\n\r\nzz\r\n{\r\n`, 400],
  [
    'a chunk with a novel',
    `${SUBMIT}Transfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(20_000)}`,
    400,
  ],
  ['a body longer than its Content-Length', `${SUBMIT}Content-Length: 5\r\n\r\n{"job":"a"}`, 400],
  ['lines without CR', 'GET /livez HTTP/1.1\nHost: localhost\n\n', 400],
  ['a space before the colon', 'GET /livez HTTP/1.1\r\nHost : localhost\r\n\r\n', 400],
  ['NUL in a header', `GET /livez HTTP/1.1\r\n${HEAD}X: a\0b\r\n\r\n`, 400],
  ['HTTP of 1991', 'GET /livez\r\n\r\n', 400],
  ['HTTP/2 in plain text', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
  ['no host', `GET /livez HTTP/1.1\r\n${CLOSE}\r\n`, 400],
  ['two hosts', `GET /livez HTTP/1.1\r\n${HEAD}Host: evil\r\n${CLOSE}\r\n`, 400],
  ['a foreign host', `GET /livez HTTP/1.1\r\nHost: evil\r\n${CLOSE}\r\n`, 403],
  ['TRACE', `TRACE /v1/runs HTTP/1.1\r\n${HEAD}${CLOSE}\r\n`, 405],
  [
    'an unknown expectation',
    `${SUBMIT}Expect: a-miracle\r\n${CLOSE}Content-Length: 0\r\n\r\n`,
    417,
  ],
  [
    'an upgrade',
    `GET /livez HTTP/1.1\r\n${HEAD}Connection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n`,
    200,
  ],
]

test('input that is not HTTP gets one error answer, and the connection is closed', async (t) => {
  const groups = answers.map(([why, bytes, status]) => {
    return { why, status, visitors: visit(50, Buffer.from(bytes, 'latin1')) }
  })
  await survives(
    t,
    groups.flatMap(({ visitors }) => visitors),
  )
  for (const { why, status, visitors } of groups) {
    // A client that is still sending may lose the answer to a broken connection, but gets no other one.
    const heard = new Set(visitors.map(statusesOf).filter((statuses) => statuses !== ''))
    assert.deepEqual([...heard], [String(status)], why)
  }
})

test('CONNECT opens no tunnel', async (t) => {
  const visitors = visit(100, `CONNECT evil:80 HTTP/1.1\r\n${HEAD}\r\n`)
  await survives(t, visitors)
  assert.deepEqual([...new Set(visitors.map(({ received }) => received()))], [''])
})

test('a request may wait for 100 Continue before it sends its body', async (t) => {
  const body = '{"job":"a"}'
  const head = `${SUBMIT}Expect: 100-continue\r\n${CLOSE}Content-Length: ${body.length}\r\n\r\n`
  const [visitor] = visit(1, head) as [HostileClient]
  await waitFor(() => visitor.received().startsWith('HTTP/1.1 100 '), { what: 'leave to go on' })
  visitor.socket.write(body)
  await survives(t, [visitor])
  assert.match(visitor.received(), /HTTP\/1\.1 201 /)
})

test('a thousand pipelined requests are answered one by one', async (t) => {
  const last = `GET /v1/runs/x HTTP/1.1\r\n${HEAD}${CLOSE}\r\n`
  const visitors = visit(10, `GET /livez HTTP/1.1\r\n${HEAD}\r\n`.repeat(999) + last)
  await survives(t, visitors)
  const expected = `${'200 '.repeat(999)}400`
  for (const visitor of visitors) assert.equal(statusesOf(visitor), expected)
})

/** A run that has printed 16 MB. */
async function printALot(): Promise<string> {
  const { call } = environment
  const hello = {
    name: 'printer',
    queues: ['print'],
    labels: {},
    executors: ['handler:print'],
    slots: 1,
    registration: 1,
    held: [],
    forsaken: [],
  }
  const { session } = (await call('POST', '/v1/workers', hello)).body as WireWelcome
  await call('POST', '/v1/runs', { job: 'print', queue: 'print' })
  const exchange = (number: number, done: readonly object[], free: number) =>
    call('POST', `/v1/workers/${session}/exchange`, {
      registration: 1,
      number,
      answered: number - 1,
      done,
      free,
      wait_ms: 0,
    })
  const answer = await exchange(1, [], 1)
  const [granted] = (answer.body as WireExchangeAnswer).runs
  const { run = '', fence = 0 } = granted ?? {}
  const entries = [[0, 1, `${'x'.repeat(255 * 1024)}\n`]]
  for (let chunk = 0; chunk < 64; chunk += 1) {
    const chunks = [{ run, fence, chunk, entries }]
    await call('POST', `/v1/workers/${session}/logs`, { registration: 1, chunks })
  }
  const process = { exit_code: 0, output: { chunks: 64, bytes: 64 * 256 * 1024 } }
  await exchange(2, [{ run, fence, outcome: 'succeeded', process }], 0)
  return run
}

test('200 clients that request a long log and never read it block no other client, and are disconnected', async (t) => {
  const run = await printALot()
  for (const part of ['follow', 'raw']) {
    const visitors = visit(100, `GET /v1/runs/${run}/logs/${part} HTTP/1.1\r\n${HEAD}\r\n`)
    for (const { socket } of visitors) socket.pause()
  }
  // A slow machine may have closed the first connections before it accepts the last.
  await waitFor(() => environment.openFiles() > calm.files + 20, { what: 'readers to be served' })
  assert.equal((await environment.call('GET', `/v1/runs/${run}/logs?tail=1`)).status, 200)
  await isLeftAlone(t)
})
