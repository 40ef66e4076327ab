import assert from 'node:assert/strict'
import type { RequestListener } from 'node:http'
import { type TestContext, test } from 'node:test'
import { text as readText } from 'node:stream/consumers'
import { waitFor } from '../../../../test/support/wait-for.ts'
import type { HttpWork } from '../../../core/work/http-work.ts'
import { parseAllowList } from '../../../outbound/allow-list.ts'
import { openSink } from '../../../outbound/sink.fixture.ts'
import { openRealTimeWorker } from '../../testing/performing-worker.ts'

async function open(t: TestContext, answer?: RequestListener) {
  const sink = await openSink(t, answer)
  const performer = await openRealTimeWorker(t, { http: { allow: parseAllowList([sink.allow]) } })
  const ask = (more: Partial<HttpWork> = {}): HttpWork => ({
    executor: 'http',
    method: 'GET',
    url: `${sink.url}/orders?key=hush`,
    ...more,
  })
  return { ...performer, sink, ask }
}

test('a request succeeds by its status and names its sender', async (t) => {
  const { perform, textOf, sink, ask } = await open(t, (_request, response) => {
    response.writeHead(201, { 'content-type': 'text/plain' }).end('made\n')
  })
  const done = await perform('run_a', ask({ headers: { 'X-Api': 'k' } }), { attempt: 2 })
  assert.deepEqual([done.outcome, done.result], ['succeeded', undefined])
  assert.equal(textOf('run_a'), 'made\n')
  const workerLines = textOf('run_a', 0)
  assert.match(workerLines, /punctual: GET http:\/\/127\.0\.0\.1:\d+\/orders\n/)
  assert.match(workerLines, /punctual: answered 201, 5 B of text\/plain\n/)
  const { url, headers } = sink.requests[0] ?? assert.fail('no request')
  assert.equal(url, '/orders?key=hush')
  assert.deepEqual(
    ['x-api', 'idempotency-key', 'punctual-run-id', 'punctual-attempt', 'punctual-fence'].map(
      (name) => headers[name],
    ),
    ['k', 'run_a', 'run_a', '2', String(done.fence)],
  )
  assert.match(String(headers['traceparent']), /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
})

test("the request sends its body, or otherwise the run's input", async (t) => {
  const bodies: string[] = []
  const { perform, sink, ask } = await open(t, (request, response) => {
    void readText(request).then((body) => {
      bodies.push(body)
      response.end()
    })
  })
  await perform('run_a', ask({ method: 'POST', body: 'hi' }), { input: '{"n":1}' })
  await perform('run_b', ask({ method: 'PUT' }), { input: '{"n":1}' })
  await perform('run_c', ask(), { input: '{"n":1}' })
  assert.deepEqual(bodies, ['hi', '{"n":1}', ''])
  assert.equal(sink.requests[0]?.headers['content-type'], undefined)
  assert.equal(sink.requests[1]?.headers['content-type'], 'application/json')
})

test('a JSON answer within the limits becomes the result', async (t) => {
  const json = { 'content-type': 'application/problem+json; charset=utf-8' }
  const { perform, textOf, ask } = await open(t, ({ url }, response) => {
    const body = { '/good': '{"n":1}', '/bad': '{', '/long': `"${'x'.repeat(2_000)}"` }[url ?? '']
    response.writeHead(200, json).end(body)
  })
  const at = (path: string) =>
    ask({ url: new URL(path, ask().url).href, max_response_bytes: 1_000 })
  assert.equal((await perform('run_a', at('/good'))).result, '{"n":1}')
  for (const [run, path, why] of [
    ['run_b', '/bad', /is not JSON/],
    ['run_c', '/long', /it is too long/],
  ] as const) {
    const done = await perform(run, at(path))
    assert.deepEqual([done.outcome, done.result], ['succeeded', undefined])
    assert.match(textOf(run, 0), why)
  }
})

const STATUSES: [status: number, expect: string | undefined, verdict: string][] = [
  [204, undefined, 'succeeded'],
  [304, '200-299,304', 'succeeded'],
  [200, '201', 'failed, worth another try'],
  [503, undefined, 'failed, worth another try'],
  [429, undefined, 'failed, worth another try'],
  [408, undefined, 'failed, worth another try'],
  [404, undefined, 'failed for good'],
  [400, undefined, 'failed for good'],
]
test('an unexpected status is an error; one that blames the request is final', async (t) => {
  const { perform, ask } = await open(t, ({ url }, response) => {
    response.writeHead(Number(url?.slice(1))).end('no')
  })
  for (const [status, expect, verdict] of STATUSES) {
    const url = new URL(`/${status}`, ask().url).href
    const done = await perform(`run_${status}_${verdict}`, ask({ url, ...(expect && { expect }) }))
    const rest = done.retriable === false ? ' for good' : ', worth another try'
    assert.equal(done.outcome + (done.outcome === 'failed' ? rest : ''), verdict, String(status))
    if (done.outcome === 'succeeded') continue
    const message = `answered ${status}, expected ${expect ?? '200-299'}`
    assert.deepEqual([done.cause, done.message], ['error', message])
  }
})

test('a forbidden address is not called, and the run is not retried', async (t) => {
  const { perform, sink, ask } = await open(t)
  for (const url of ['http://169.254.169.254/', `http://127.0.0.2:${sink.port}/`]) {
    const done = await perform(`run_${url}`, ask({ url }))
    assert.deepEqual([done.outcome, done.cause, done.retriable], ['failed', 'error', false])
    assert.match(done.message ?? '', /is not called unless the operator allows it/)
  }
  assert.equal(sink.connections(), 0)
})

test('a server that does not answer is retried', async (t) => {
  const { perform, ask } = await open(t, (request) => request.socket.destroy())
  const done = await perform('run_a', ask())
  assert.deepEqual([done.cause, done.retriable], ['error', undefined])
  assert.match(done.message ?? '', /does not answer/)
})

test('secrets are inserted only where their names stand', async (t) => {
  const { perform, textOf, sink, ask } = await open(t, (request, response) => {
    const json = { 'content-type': 'application/json' }
    response.writeHead(200, json).end(JSON.stringify({ you: request.headers.authorization }))
  })
  const secrets = [{ name: 'TOKEN', as: 'env', value: 'a-long-secret' }] as const
  const headers = { Authorization: 'Bearer ${TOKEN}', 'X-Other': '${OTHER}' }
  const done = await perform('run_a', ask({ headers }), { secrets })
  assert.equal(sink.requests[0]?.headers.authorization, 'Bearer a-long-secret')
  assert.equal(sink.requests[0]?.headers['x-other'], '${OTHER}')
  assert.match(done.result ?? '', /^\{"you":"Bearer .+"\}$/)
  assert.ok(!`${done.result}${textOf('run_a')}${textOf('run_a', 0)}`.includes('a-long-secret'))
  const broken = [{ name: 'TOKEN', as: 'env', value: 'a-long\r\nHost: secret' }] as const
  const refused = await perform('run_b', ask({ headers }), { secrets: broken })
  assert.match(refused.message ?? '', /^the header authorization contains a line break/)
  assert.equal(sink.requests.length, 1)
})

test('a run that is cancelled or times out aborts its request', async (t) => {
  let left = 0
  const { scheduler, perform, ended, sink, ask } = await open(t, (_request, response) => {
    response.write('begin')
    response.on('close', () => (left += 1))
  })
  scheduler.submit('run_a', { work: ask() })
  await waitFor(() => sink.requests.length === 1, { what: 'the request' })
  scheduler.cancel('run_a')
  assert.equal((await ended('run_a')).outcome, 'cancelled')
  const late = await perform('run_b', ask(), { timeoutMs: 50 })
  assert.deepEqual([late.cause, late.message], ['timeout', 'timed out after 50 ms'])
  await waitFor(() => left === 2, { what: 'the connections to close' })
})

test('a long answer is cut, and binary content is not printed', async (t) => {
  const { perform, textOf, ask } = await open(t, ({ url }, response) => {
    const type = url === '/image' ? 'image/png' : 'text/plain'
    response.writeHead(200, { 'content-type': type }).end('x'.repeat(5_000))
  })
  await perform('run_a', ask({ max_response_bytes: 1_000 }))
  assert.equal(textOf('run_a').length, 1_000)
  assert.match(textOf('run_a', 0), /answered 200, more than 1000 B of text\/plain/)
  await perform('run_b', ask({ url: new URL('/image', ask().url).href }))
  assert.equal(textOf('run_b'), '')
})

test('a worker offers the configured executors and fails assignments for others', async (t) => {
  const { scheduler, perform } = await openRealTimeWorker(t, {
    http: {},
    handlers: { greet: () => 'hi' },
    executors: ['http'],
  })
  const [hello] = scheduler.messages('register')
  assert.deepEqual(hello?.executors, ['http', 'handler:greet'])
  const done = await perform('run_a', { executor: 'shell', run: 'true' })
  assert.deepEqual(
    [done.cause, done.message],
    ['start_error', 'this worker does not run shell work'],
  )
})
