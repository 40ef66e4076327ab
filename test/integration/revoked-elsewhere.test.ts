import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import type { WireNewToken } from '../../src/core/wire/views.ts'
import type { WireWelcome } from '../../src/core/wire/worker.ts'
import { openApi, ROOT_TOKEN } from '../api/open-api.ts'
import { queryOnce } from '../support/postgres-query.ts'
import { postgresUrl } from '../support/servers.ts'
import { createVirtualClock } from '../support/virtual-clock.ts'
import { waitFor } from '../support/wait-for.ts'

const HELLO = {
  name: 'w',
  queues: ['default'],
  labels: {},
  executors: ['shell'],
  slots: 1,
  registration: 1,
  held: [],
  forsaken: [],
  protocol: [2],
}
const BEAT = { registration: 1, answered: 0, held: [] }
const POLL = { registration: 1, number: 1, answered: 0, done: [], free: 1, wait_ms: 0 }
/** docs/how-to/secure.md: every node refuses a revoked token after this time. */
const PROMISED_MS = 5_000

test('a token revoked on one node ends its sessions on another within five seconds', async (t) => {
  const store = await postgresUrl()
  // Near PostgreSQL's clock, which is real.
  const clock = createVirtualClock(Date.now())
  const [first, second] = [await openApi(t, { store, clock }), await openApi(t, { store, clock })]
  const { body: created } = await first.call<WireNewToken>('POST', '/v1/tokens', {
    body: { name: 'gone', role: 'worker' },
  })
  const { token } = created
  const { body: welcome } = await second.call<WireWelcome>('POST', '/v1/workers', {
    token,
    body: HELLO,
  })
  const secret = welcome.session_secret as string
  const say = (route: string, body: object) =>
    second.call<{ code?: string }>('POST', `/v1/workers/${welcome.session}/${route}`, {
      token,
      body,
      headers: { 'punctual-session-secret': secret },
    })
  const rows = await queryOnce(store, 'SELECT * FROM punctual.session')
  assert.deepEqual(
    rows.map((row) => row['secret']),
    [hash('sha256', secret)],
  )
  assert.ok(!JSON.stringify(rows).includes(secret))

  assert.equal((await say('heartbeat', BEAT)).status, 200)
  const waiting = say('exchange', { ...POLL, wait_ms: 20_000 })
  await first.call('DELETE', `/v1/tokens/${created.id}`)
  await clock.advance(PROMISED_MS)
  // Now there is a run that the waiting request could be granted.
  await second.call('POST', '/v1/runs', { body: { run: 'true' } })
  for (const [route, message] of [
    ['heartbeat', BEAT],
    ['exchange', { ...POLL, number: 2 }],
    ['logs', { registration: 1, chunks: [] }],
    ['leave', { registration: 1 }],
  ] as const) {
    assert.equal((await say(route, message)).body.code, 'unauthorized', route)
  }
  // The session ended with its token: the clock stands still, so the poll did not time out.
  assert.equal((await waiting).body.code, 'unauthorized')
})

/** The text of a stream so far, and whether it has ended. */
async function readStream(url: string, token: string) {
  const { status, body } = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
  assert.equal(status, 200, url)
  const stream = { text: '', isOver: false, cancel: () => body?.cancel() }
  const decoder = new TextDecoder()
  const read = async () => {
    for await (const part of body ?? []) stream.text += decoder.decode(part)
    stream.isOver = true
  }
  void read().catch(() => {})
  return stream
}

test('event streams and waiting requests of a token revoked on one node end on another within five seconds', async (t) => {
  const store = await postgresUrl()
  const clock = createVirtualClock(Date.now())
  const [first, second] = [await openApi(t, { store, clock }), await openApi(t, { store, clock })]
  const { body: gone } = await first.call<WireNewToken>('POST', '/v1/tokens', {
    body: { name: 'gone', role: 'viewer' },
  })
  const { token } = gone
  const submit = async () =>
    (await second.call<{ id: string }>('POST', '/v1/runs', { body: { run: 'true' } })).body.id
  const run = await submit()
  const kept = await readStream(`${second.url}/v1/events`, ROOT_TOKEN)
  const ending = await Promise.all(
    ['/v1/events', `/v1/runs/${run}/logs/follow`].map((path) =>
      readStream(second.url + path, token),
    ),
  )
  const sleepers = clock.sleeping()
  const answer = second.call<{ code?: string }>('GET', `/v1/runs/${run}?wait=20s`, { token })
  let code: string | undefined
  void answer.then(({ body }) => (code = body.code ?? 'the run'))
  await waitFor(() => clock.sleeping() > sleepers, { what: 'the request to wait' })

  await first.call('DELETE', `/v1/tokens/${gone.id}`)
  await clock.advance(PROMISED_MS)
  const what = 'the streams and the wait to end'
  await waitFor(() => code !== undefined && ending.every(({ isOver }) => isOver), {
    what,
    deadlineMs: 20_000,
  })
  assert.equal(code, 'unauthorized')
  // The end of a run is not sent either: readers that reconnect are refused with the reason.
  for (const { text } of ending) assert.doesNotMatch(text, /event: end/)
  // Streams of other tokens continue.
  const next = await submit()
  const hasNext = async () => {
    await clock.advance(100)
    return kept.text.includes(next)
  }
  await waitFor(hasNext, { what: 'the stream of another token to go on', deadlineMs: 20_000 })
  assert.equal(kept.isOver, false)
})
