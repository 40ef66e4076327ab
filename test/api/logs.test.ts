import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WireLog } from '../../src/core/wire/views.ts'
import { type OpenApi, openApi, ROOT_TOKEN } from './open-api.ts'

async function submit({ call }: OpenApi, run: string, more: object = {}): Promise<string> {
  const { body } = await call<{ id: string }>('POST', '/v1/runs', { body: { run, ...more } })
  return body.id
}

/** Events of a stream until it ends. */
async function follow({ url }: OpenApi, path: string, headers: Record<string, string> = {}) {
  const answer = await fetch(url + path, {
    headers: { authorization: `Bearer ${ROOT_TOKEN}`, ...headers },
  })
  const text = await answer.text()
  return text.split('\n\n').flatMap((block) => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1]
    const data = field('data')
    if (data === undefined) return []
    return [{ id: field('id'), event: field('event'), data: JSON.parse(data) as never }]
  })
}

test('a log is read line by line, from any line, and from its end', async (t) => {
  const api = await openApi(t)
  await api.startWorker()
  const id = await submit(api, 'seq 1 30000; echo oh >&2')
  await api.call('GET', `/v1/runs/${id}?wait=60s`)
  const read = async (query: string) =>
    (await api.call<WireLog>('GET', `/v1/runs/${id}/logs${query}`)).body
  const first = await read('?limit=3')
  assert.deepEqual(
    first.lines.map(({ line, text }) => [line, text]),
    [
      [0, '1'],
      [1, '2'],
      [2, '3'],
    ],
  )
  assert.deepEqual([first.next_line, first.complete], [3, false])
  const middle = await read('?from_line=19999&limit=1')
  assert.equal(middle.lines[0]?.text, '20000')
  const last = await read('?tail=2')
  assert.deepEqual(
    last.lines.map(({ stream, text }) => [stream, text]),
    [
      ['stdout', '30000'],
      ['stderr', 'oh'],
    ],
  )
  assert.deepEqual([last.next_line, last.complete, last.dropped], [30_001, true, 0])
  assert.deepEqual((await read('?from_line=30001')).lines, [])
})

test('a line beyond the limit is shown up to the limit, and the next line is found', async (t) => {
  const api = await openApi(t)
  await api.startWorker()
  const x = `head -c 3000000 /dev/zero | tr '\\0' x`
  const id = await submit(api, `echo first; ${x}; echo; echo between; ${x}; sleep 0.3; printf end`)
  await api.call('GET', `/v1/runs/${id}?wait=60s`)
  const read = async (query: string) =>
    (await api.call<WireLog>('GET', `/v1/runs/${id}/logs${query}`)).body
  const shown = ({ lines }: WireLog) =>
    lines.map(({ line, text, cut }) => [line, text.length, cut ?? false])
  const long = 65_536
  const all = [
    [0, 5, false],
    [1, long, true],
    [2, 7, false],
    [3, long, true],
  ]
  assert.deepEqual(shown(await read('')), all)
  assert.deepEqual(shown(await read('?from_line=1&limit=2')), all.slice(1, 3))
  assert.deepEqual(shown(await read('?from_line=2')), all.slice(2))
  assert.deepEqual((await read('?limit=1')).next_line, 1)
  const tail = await read('?tail=2')
  assert.deepEqual([shown(tail), tail.next_line], [all.slice(2), 3])
})

test('a line that arrived in pieces is one line, and markers have their own field', async (t) => {
  const api = await openApi(t)
  await api.startWorker()
  const id = await submit(
    api,
    'printf a; sleep 0.5; printf b; sleep 0.5; echo c; echo ::group::x; echo ::endgroup::',
  )
  await api.call('GET', `/v1/runs/${id}?wait=60s`)
  for (const query of ['', '?tail=3', '?from_line=0&limit=3']) {
    const { lines } = (await api.call<WireLog>('GET', `/v1/runs/${id}/logs${query}`)).body
    assert.deepEqual(
      lines.map(({ line, text, mark }) => [line, text, mark]),
      [
        [0, 'abc', undefined],
        [1, '::group::x', { kind: 'group', text: 'x' }],
        [2, '::endgroup::', { kind: 'endgroup' }],
      ],
    )
  }
})

test('a log is followed while it is written, and the end of the run is reported', async (t) => {
  const api = await openApi(t)
  await api.startWorker()
  const id = await submit(api, 'echo one; sleep 0.4; printf two; sleep 0.4; echo three >&2; exit 7')
  const events = await follow(api, `/v1/runs/${id}/logs/follow`)
  const output = events.filter(({ event }) => event === 'output')
  const entries = output.flatMap(
    ({ data }) => (data as { entries: [number, string, string][] }).entries,
  )
  assert.deepEqual(
    entries.map(([, stream, text]) => `${stream} ${text}`).join('|'),
    'stdout one\n|stdout two|stderr three\n',
  )
  assert.ok(output.length > 1, 'it came in pieces')
  const end = events.at(-1)
  assert.deepEqual(
    [end?.event, end?.data],
    ['end', { state: 'failed', exit_code: 7, signal: null }],
  )
  const rest = await follow(api, `/v1/runs/${id}/logs/follow`, {
    'last-event-id': output[0]?.id ?? '',
  })
  assert.equal(rest.filter(({ event }) => event === 'output').length, output.length - 1)
})

test('each attempt has a log of its own', async (t) => {
  const api = await openApi(t)
  await api.startWorker()
  const id = await submit(api, 'echo attempt $PUNCTUAL_ATTEMPT; [ $PUNCTUAL_ATTEMPT = 2 ]', {
    retry: { max: 1, delay: '1ms' },
  })
  const run = await api.call('GET', `/v1/runs/${id}?wait=60s`)
  assert.equal(run.body['state'], 'succeeded')
  const raw = async (query = '') =>
    (await api.call<string>('GET', `/v1/runs/${id}/logs/raw${query}`)).body
  assert.deepEqual([await raw(), await raw('?attempt=1')], ['attempt 2\n', 'attempt 1\n'])
  const attempts = await api.call<{ data: { exit_code: number; state: string }[] }>(
    'GET',
    `/v1/runs/${id}/attempts`,
  )
  assert.deepEqual(
    attempts.body.data.map(({ state, exit_code }) => [state, exit_code]),
    [
      ['retried', 1],
      ['succeeded', 0],
    ],
  )
  const last = await follow(api, `/v1/runs/${id}/logs/follow`)
  assert.equal(last.filter(({ event }) => event === 'output').length, 1)
  const none = await api.call('GET', `/v1/runs/${id}/logs?attempt=3`)
  assert.deepEqual([none.status, none.body['code']], [404, 'log_not_found'])
})

test('a run says why it waits, and what would help', async (t) => {
  const api = await openApi(t)
  const why = async (id: string) =>
    (await api.call<{ sentence: string }>('GET', `/v1/runs/${id}/why`)).body.sentence
  const lonely = await submit(api, 'true', { runs_on: { labels: { gpu: 'a100' } } })
  assert.match(await why(lonely), /no worker is connected/)
  const later = await submit(api, 'true', { run_at: '2099-01-01T00:00:00Z' })
  assert.match(await why(later), /not due yet/)
  await api.call('PATCH', '/v1/queues/default', { body: { paused: true } })
  await api.startWorker()
  const paused = await submit(api, 'exit 3')
  assert.match(await why(paused), /queue default is paused/)
  await api.call('PATCH', '/v1/queues/default', { body: { paused: false } })
  assert.match(await why(lonely), /gpu=a100/)
  await api.call('GET', `/v1/runs/${paused}?wait=60s`)
  assert.match(await why(paused), /It failed: exited with code 3/)
})
