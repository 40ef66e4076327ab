import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { text } from 'node:stream/consumers'
import type { Exchange, SchedulerClient } from '../../core/wire/protocol.ts'
import {
  createFakeSchedulerClient,
  createTestApi,
  RUN,
  SESSION,
  TEST_TOKEN,
} from './testing/fake-scheduler.ts'

/** Sends bytes that no HTTP library would send. */
async function listen(
  t: TestContext,
  scheduler: SchedulerClient = createFakeSchedulerClient(),
): Promise<number> {
  const api = createTestApi(scheduler)
  await api.listen({ port: 0, host: '127.0.0.1' })
  t.after(() => api.close())
  return (api.server.address() as AddressInfo).port
}

async function send(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(bytes)
  return text(socket)
}

const HEAD = `Host: localhost\r\nAuthorization: Bearer ${TEST_TOKEN}\r\n`
const SUBMIT = `POST /v1/runs HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\n`

const table: [why: string, request: string, status: number, code: string][] = [
  ['words that are not HTTP', 'hello there\r\n\r\n', 400, 'invalid_request'],
  ['a request of 1991, without a host', 'GET /livez\r\n\r\n', 400, 'invalid_request'],
  [
    'a request that names no host',
    'GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n',
    400,
    'invalid_request',
  ],
  [
    'a request that names two hosts',
    `GET /livez HTTP/1.1\r\n${HEAD}Host: evil.example\r\nConnection: close\r\n\r\n`,
    400,
    'invalid_request',
  ],
  [
    'a URL that names another host',
    `GET http://evil.example/livez HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`,
    400,
    'invalid_request',
  ],
  [
    'two lengths that disagree',
    `POST /v1/runs HTTP/1.1\r\n${HEAD}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`,
    400,
    'invalid_request',
  ],
  [
    'headers without end',
    `GET /livez HTTP/1.1\r\n${HEAD}X: ${'x'.repeat(20_000)}\r\n\r\n`,
    431,
    'headers_too_large',
  ],
  [
    'a URL without end',
    `GET /v1/runs?job=${'x'.repeat(64_000)} HTTP/1.1\r\n${HEAD}\r\n`,
    414,
    'uri_too_long',
  ],
  [
    'a URL of 9,000 letters',
    `GET /v1/runs?job=${'x'.repeat(9_000)} HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`,
    414,
    'uri_too_long',
  ],
  ['a length over the limit', `${SUBMIT}Content-Length: 99999999\r\n\r\n`, 413, 'body_too_large'],
]

for (const [why, request, status, code] of table) {
  test(`${status} ${code}: ${why}`, async (t) => {
    const answer = await send(await listen(t), request)
    assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `))
    assert.match(answer, /content-type: application\/problem\+json/i)
    assert.match(answer, new RegExp(`"code":"${code}"`))
  })
}

test('a body without end is cut off at the limit', async (t) => {
  const port = await listen(t)
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
  const request = `${SUBMIT}Transfer-Encoding: chunked\r\n\r\n`
  assert.match(await send(port, request + chunk.repeat(321)), /^HTTP\/1.1 413 /)
})

test('a disconnecting worker ends its poll, and its reports have still been processed', async (t) => {
  const polling = Promise.withResolvers<{ signal: AbortSignal; message: Exchange }>()
  const scheduler = createFakeSchedulerClient({
    async exchange(_session, message, signal = AbortSignal.abort()) {
      polling.resolve({ signal, message })
      await once(signal, 'abort')
      throw new Error('no client is waiting any more')
    },
  })
  const port = await listen(t, scheduler)
  const done = { run: RUN, fence: 1, outcome: 'succeeded' }
  const body = JSON.stringify({
    registration: 1,
    number: 1,
    answered: 0,
    done: [done],
    free: 1,
    wait_ms: 20_000,
  })
  const socket = connect(port, '127.0.0.1')
  socket.write(
    `POST /v1/workers/${SESSION}/exchange HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  )
  const { signal, message } = await polling.promise
  assert.deepEqual(message.done, [done])
  assert.equal(signal.aborted, false)
  socket.destroy()
  await once(signal, 'abort')
  assert.match(
    await send(port, `GET /livez HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`),
    /^HTTP\/1.1 200 /,
  )
})
