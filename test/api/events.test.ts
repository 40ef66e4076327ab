import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { waitFor } from '../support/wait-for.ts'
import { openApi, type OpenApi, ROOT_TOKEN } from './open-api.ts'

interface ReceivedEvent {
  readonly event: string
  readonly id: string
  readonly data: { id?: string; job?: string; state?: string; reason?: string }
}

/** Reads an event stream until the test ends. */
async function listen(
  t: TestContext,
  { url }: OpenApi,
  { path = '/v1/events', headers = {}, token = ROOT_TOKEN } = {},
) {
  const done = new AbortController()
  t.after(() => done.abort())
  const answer = await fetch(url + path, {
    headers: { authorization: `Bearer ${token}`, ...headers },
    signal: done.signal,
  })
  assert.equal(answer.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  const received: ReceivedEvent[] = []
  const read = async () => {
    let text = ''
    for await (const piece of answer.body!.pipeThrough(new TextDecoderStream())) {
      text += piece
      const parts = text.split('\n\n')
      text = parts.pop() ?? ''
      received.push(...parts.filter((part) => !part.startsWith(':')).map(parse))
    }
  }
  read().catch(() => {})
  await waitFor(() => received.length > 0, { what: 'the first event' })
  return { received, stop: () => done.abort() }
}

function parse(part: string): ReceivedEvent {
  const fields = Object.fromEntries(part.split('\n').map((line) => line.split(/: (.*)/, 2)))
  const { event, id, data } = fields as Record<string, string>
  return { event: event!, id: id!, data: JSON.parse(data!) as ReceivedEvent['data'] }
}

const states = (received: readonly ReceivedEvent[], id: string) =>
  received.filter(({ data }) => data.id === id).map(({ data }) => data.state)

test('a run can be watched until it has ended, and only in its project', async (t) => {
  const api = await openApi(t)
  await api.startWorker()
  const mine = await listen(t, api)
  const others = await listen(t, api, { token: await api.token('viewer', 'elsewhere') })
  assert.equal(mine.received[0]?.event, 'hello')
  const { body } = await api.call<{ id: string }>('POST', '/v1/runs', {
    body: { run: 'echo hi', input: { secret: 'long' } },
  })
  await waitFor(() => states(mine.received, body.id).at(-1) === 'succeeded', {
    what: 'the end of the run',
  })
  const last = mine.received.at(-1)!
  assert.ok(!('input' in last.data) && !('result' in last.data), 'nothing that may be long')
  assert.deepEqual(
    others.received.map(({ event }) => event),
    ['hello'],
  )
})

test('a client that reconnects with its position misses no event', async (t) => {
  const api = await openApi(t)
  const first = await listen(t, api)
  first.stop()
  const { body } = await api.call<{ id: string }>('POST', '/v1/runs', { body: { job: 'a' } })
  await api.call('POST', `/v1/runs/${body.id}/cancel`)
  const again = await listen(t, api, { headers: { 'last-event-id': first.received[0]!.id } })
  await waitFor(() => states(again.received, body.id).at(-1) === 'cancelled', {
    what: 'the cancel',
  })
  const lost = await listen(t, api, { headers: { 'last-event-id': 'nowhere.1' } })
  assert.deepEqual(
    lost.received.map(({ event, data }) => [event, typeof data.reason]),
    [['reset', 'string']],
  )
})

test('a stream can be limited to the runs of one job', async (t) => {
  const api = await openApi(t)
  const { received } = await listen(t, api, { path: '/v1/events?job=b' })
  for (const job of ['a', 'b']) await api.call('POST', '/v1/runs', { body: { job } })
  await waitFor(() => received.length === 2, { what: 'the run of that job' })
  assert.equal(received[1]?.data.job, 'b')
})
