import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, afterEach, before, test, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { WireExchangeAnswer, WireWelcome } from '../../src/core/wire/runs.ts'
import { waitFor } from '../support/wait-for.ts'
import { type Heart, startHeart } from './test-node.ts'
import { type HostileStage, openHostileStage, type Visitor } from './hostile-environment.ts'
import { ROOT_TOKEN } from './open-api.ts'

// Every attack is made on the same server, while a worker holds a run there and sends its heartbeats.

let stage: HostileStage
let heart: Heart
/** Open files and megabytes before anything happened. */
let calm: { files: number; mb: number }

before(async () => {
  stage = await openHostileStage()
  heart = await startHeart(stage)
  assert.equal((await stage.call('POST', '/v1/runs', { job: 'calm' })).status, 201)
  calm = { files: stage.openFiles(), mb: stage.residentMb() }
})

const guests: Visitor[] = []

afterEach(() => {
  for (const { socket } of guests.splice(0)) socket.destroy()
})

after(async () => {
  try {
    await heart.stop()
  } finally {
    await stage.stop()
  }
})

const HEAD = `Host: localhost\r\nAuthorization: Bearer ${ROOT_TOKEN}\r\n`
const SUBMIT = `POST /v1/runs HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\n`
const DEFINE = `PUT /v1/jobs/endless HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\n`
/** Far above what was seen; what grows without bound goes through it. */
const MOST_MB = 1_500

/** An attack is over when its connections are; then nothing of it may be left. */
async function survives(t: TestContext, visitors: readonly Visitor[]): Promise<void> {
  await waitFor(() => visitors.every((visitor) => visitor.isOver()), {
    what: 'the server to close every connection of the attack',
  })
  await isLeftAlone(t)
}

/** Our own ends stay open until the server has let go of its ends by itself. */
async function isLeftAlone(t: TestContext): Promise<void> {
  await waitFor(() => stage.openFiles() <= calm.files + 5, { what: 'the server to let go' })
  await isWell(t)
}

async function isWell(t: TestContext): Promise<void> {
  const { count } = heart.beats()
  assert.equal((await stage.call('GET', '/livez')).status, 200)
  assert.equal((await stage.call('POST', '/v1/runs', { job: 'after' })).status, 201)
  await waitFor(() => heart.beats().count > count, { what: 'another heartbeat' })
  assert.deepEqual(heart.trouble(), [], 'every heartbeat was answered, and the run still held')
  const mb = Math.round(stage.residentMb())
  assert.ok(mb < MOST_MB, `${mb} MB in use`)
  t.diagnostic(`${mb} MB; slowest heartbeat ${Math.round(heart.beats().slowestMs)} ms`)
}

const visit = (count: number, bytes: string | Buffer = ''): Visitor[] =>
  Array.from({ length: count }, () => {
    const visitor = stage.connect()
    visitor.socket.write(bytes)
    guests.push(visitor)
    return visitor
  })

/** Of every answer there was, such as `200 408`. */
const statusesOf = ({ said }: Visitor) =>
  Array.from(said().matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, status]) => status).join(' ')

/** Adds a piece to each request now and then, until the server has had enough. */
async function drip(visitors: readonly Visitor[], piece: string): Promise<void> {
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

test('headers that come a letter at a time are not waited for', async (t) => {
  const visitors = visit(200, 'GET /livez HTTP/1.1\r\nHost: localhost\r\nX: ')
  await drip(visitors, 'x')
  await survives(t, visitors)
})

test('bodies that come a letter at a time are not waited for', async (t) => {
  const visitors = visit(200, `${SUBMIT}Content-Length: 100000\r\n\r\n{"job":"`)
  await drip(visitors, 'x')
  await survives(t, visitors)
})

/** Node raises its own limit as far as it may. */
const files = Number(
  /^Max open files +\S+ +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1],
)
const skip = files < 6_000 && `needs 6,000 open files, has ${files} (ulimit -Hn)`

test('5,000 connections that say nothing keep nobody out, and are closed', { skip }, async (t) => {
  let most = 0
  for (let wave = 0; wave < 20; wave += 1) {
    // More at once than a listening socket holds in its queue would never arrive.
    const visitors = visit(250)
    const isHere = ({ socket }: Visitor) => !socket.connecting
    await waitFor(() => visitors.every(isHere), { what: 'a wave to be there', intervalMs: 1 })
    most = Math.max(most, stage.openFiles())
  }
  // On a machine that is slow to let them all in, the first have been sent away by then.
  assert.ok(most > 2_000, `${most} at once`)
  assert.equal((await stage.call('GET', '/livez')).status, 200)
  await isLeftAlone(t)
  const heard = new Set(guests.map(statusesOf).filter((statuses) => statuses !== ''))
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
  // Whoever is still sending may lose the answer to a broken connection. On a machine so busy that a body
  // of the largest size does not come in time, it is too slow before it is too large.
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
  ['an encoding nobody has', `${SUBMIT}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`, 400],
  ['chunked, and not the last', `${SUBMIT}Transfer-Encoding: chunked, x\r\n\r\n0\r\n\r\n`, 400],
  ['a chunk of zz bytes', `${SUBMIT}Transfer-Encoding: chunked\r\n\r\nzz\r\n{\r\n`, 400],
  [
    'a chunk with a novel',
    `${SUBMIT}Transfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(20_000)}`,
    400,
  ],
  ['a body longer than it said', `${SUBMIT}Content-Length: 5\r\n\r\n{"job":"a"}`, 400],
  ['lines without CR', 'GET /livez HTTP/1.1\nHost: localhost\n\n', 400],
  ['a space before the colon', 'GET /livez HTTP/1.1\r\nHost : localhost\r\n\r\n', 400],
  ['NUL in a header', `GET /livez HTTP/1.1\r\n${HEAD}X: a\0b\r\n\r\n`, 400],
  ['HTTP of 1991', 'GET /livez\r\n\r\n', 400],
  ['HTTP/2 in plain text', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
  ['no host', `GET /livez HTTP/1.1\r\n${CLOSE}\r\n`, 400],
  ['two hosts', `GET /livez HTTP/1.1\r\n${HEAD}Host: evil\r\n${CLOSE}\r\n`, 400],
  ['a host that is not ours', `GET /livez HTTP/1.1\r\nHost: evil\r\n${CLOSE}\r\n`, 403],
  ['TRACE', `TRACE /v1/runs HTTP/1.1\r\n${HEAD}${CLOSE}\r\n`, 405],
  [
    'a wish we cannot fulfil',
    `${SUBMIT}Expect: a-miracle\r\n${CLOSE}Content-Length: 0\r\n\r\n`,
    417,
  ],
  [
    'an upgrade',
    `GET /livez HTTP/1.1\r\n${HEAD}Connection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n`,
    200,
  ],
]

test('whatever is not a request gets one answer that says so, and is hung up on', async (t) => {
  const groups = answers.map(([why, bytes, status]) => {
    return { why, status, visitors: visit(50, Buffer.from(bytes, 'latin1')) }
  })
  await survives(
    t,
    groups.flatMap(({ visitors }) => visitors),
  )
  for (const { why, status, visitors } of groups) {
    // Whoever is still sending may lose the answer to a broken connection, but gets no other one.
    const heard = new Set(visitors.map(statusesOf).filter((statuses) => statuses !== ''))
    assert.deepEqual([...heard], [String(status)], why)
  }
})

test('a tunnel is not dug', async (t) => {
  const visitors = visit(100, `CONNECT evil:80 HTTP/1.1\r\n${HEAD}\r\n`)
  await survives(t, visitors)
  assert.deepEqual([...new Set(visitors.map(({ said }) => said()))], [''])
})

test('a request may ask before it sends its body', async (t) => {
  const body = '{"job":"a"}'
  const head = `${SUBMIT}Expect: 100-continue\r\n${CLOSE}Content-Length: ${body.length}\r\n\r\n`
  const [visitor] = visit(1, head) as [Visitor]
  await waitFor(() => visitor.said().startsWith('HTTP/1.1 100 '), { what: 'leave to go on' })
  visitor.socket.write(body)
  await survives(t, [visitor])
  assert.match(visitor.said(), /HTTP\/1\.1 201 /)
})

test('a thousand requests in one breath are answered one by one', async (t) => {
  const last = `GET /v1/runs/x HTTP/1.1\r\n${HEAD}${CLOSE}\r\n`
  const visitors = visit(10, `GET /livez HTTP/1.1\r\n${HEAD}\r\n`.repeat(999) + last)
  await survives(t, visitors)
  const expected = `${'200 '.repeat(999)}400`
  for (const visitor of visitors) assert.equal(statusesOf(visitor), expected)
})

/** A run that has printed 16 MB. */
async function printALot(): Promise<string> {
  const { call } = stage
  const hello = {
    ...{ name: 'printer', queues: ['print'], labels: {}, executors: ['handler:print'], slots: 1 },
    ...{ registration: 1, held: [], forsaken: [] },
  }
  const { session } = (await call('POST', '/v1/workers', hello)).body as WireWelcome
  await call('POST', '/v1/runs', { job: 'print', queue: 'print' })
  const exchange = (number: number, done: readonly object[], free: number) =>
    call('POST', `/v1/workers/${session}/exchange`, {
      ...{ registration: 1, number, answered: number - 1, done, free, wait_ms: 0 },
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

test('200 who ask for a long log and never read it hold up nobody, and are left', async (t) => {
  const run = await printALot()
  for (const part of ['follow', 'raw']) {
    const visitors = visit(100, `GET /v1/runs/${run}/logs/${part} HTTP/1.1\r\n${HEAD}\r\n`)
    for (const { socket } of visitors) socket.pause()
  }
  await waitFor(() => stage.openFiles() > calm.files + 150, { what: 'them to be served' })
  assert.equal((await stage.call('GET', `/v1/runs/${run}/logs?tail=1`)).status, 200)
  await isLeftAlone(t)
})
