import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { waitFor } from '../support/wait-for.ts'
import { openApi, type OpenApi, ROOT_TOKEN } from './open-api.ts'

interface Heard {
  readonly event: string
  readonly id: string
  readonly data: { id?: string; job?: string; state?: string; reason?: string }
}

/** Reads a stream of events until the test is over. */
async function listen(
  t: TestContext,
  { url }: OpenApi,
  { path = '/v1/events', headers = {}, token = ROOT_TOKEN } = {},
) {
  const over = new AbortController()
  t.after(() => over.abort())
  const answer = await fetch(url + path, {
    headers: { authorization: `Bearer ${token}`, ...headers },
    signal: over.signal,
  })
  assert.equal(answer.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  const heard: Heard[] = []
  const read = async () => {
    let text = ''
    for await (const piece of answer.body!.pipeThrough(new TextDecoderStream())) {
      text += piece
      const parts = text.split('\n\n')
      text = parts.pop() ?? ''
      heard.push(...parts.filter((part) => !part.startsWith(':')).map(parse))
    }
  }
  read().catch(() => {})
  await waitFor(() => heard.length > 0, { what: 'the first event' })
  return { heard, stop: () => over.abort() }
}

function parse(part: string): Heard {
  const fields = Object.fromEntries(part.split('\n').map((line) => line.split(/: (.*)/, 2)))
  const { event, id, data } = fields as Record<string, string>
  return { event: event!, id: id!, data: JSON.parse(data!) as Heard['data'] }
}

const states = (heard: readonly Heard[], id: string) =>
  heard.filter(({ data }) => data.id === id).map(({ data }) => data.state)

test('a run is seen until it has ended, and only by its project', async (t) => {
  const api = await openApi(t)
  await api.startWorker()
  const mine = await listen(t, api)
  const others = await listen(t, api, { token: await api.token('viewer', 'elsewhere') })
  assert.equal(mine.heard[0]?.event, 'hello')
  const { body } = await api.call<{ id: string }>('POST', '/v1/runs', {
    body: { run: 'echo hi', input: { secret: 'long' } },
  })
  await waitFor(() => states(mine.heard, body.id).at(-1) === 'succeeded', {
    what: 'the end of the run',
  })
  const last = mine.heard.at(-1)!
  assert.ok(!('input' in last.data) && !('result' in last.data), 'nothing that may be long')
  assert.deepEqual(
    others.heard.map(({ event }) => event),
    ['hello'],
  )
})

test('whoever comes back with a position has missed nothing', async (t) => {
  const api = await openApi(t)
  const first = await listen(t, api)
  first.stop()
  const { body } = await api.call<{ id: string }>('POST', '/v1/runs', { body: { job: 'a' } })
  await api.call('POST', `/v1/runs/${body.id}/cancel`)
  const again = await listen(t, api, { headers: { 'last-event-id': first.heard[0]!.id } })
  await waitFor(() => states(again.heard, body.id).at(-1) === 'cancelled', { what: 'the cancel' })
  const lost = await listen(t, api, { headers: { 'last-event-id': 'nowhere.1' } })
  assert.deepEqual(
    lost.heard.map(({ event, data }) => [event, typeof data.reason]),
    [['reset', 'string']],
  )
})

test('only runs of one job, if that is asked for', async (t) => {
  const api = await openApi(t)
  const { heard } = await listen(t, api, { path: '/v1/events?job=b' })
  for (const job of ['a', 'b']) await api.call('POST', '/v1/runs', { body: { job } })
  await waitFor(() => heard.length === 2, { what: 'the run of that job' })
  assert.equal(heard[1]?.data.job, 'b')
})
