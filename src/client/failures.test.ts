import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import type { ErrorCode } from '../core/errors.ts'
import { publicId } from '../core/ids.ts'
import { connect } from './index.ts'

const RUN = publicId('run', 1)
const SESSION = publicId('ses', 1)

/** A scripted server: one act per request, then the last one again. */
type Act = 'ok' | 'hang-up' | 'proxy' | ErrorCode

async function stage(t: TestContext, ...acts: Act[]) {
  const paths: string[] = []
  const listener: RequestListener = (request, response) => {
    const act = acts[Math.min(paths.length, acts.length - 1)] as Act
    paths.push(request.url as string)
    request.resume().on('end', () => {
      if (act === 'hang-up') return request.socket.destroy()
      if (act === 'proxy') return response.writeHead(502).end('<html>Bad Gateway</html>')
      if (act === 'ok') {
        return response.end(
          JSON.stringify({
            runs: [{ id: RUN, created: true }],
            data: [],
            next_cursor: null,
            verdicts: [],
          }),
        )
      }
      const status = act === 'run_is_final' ? 409 : 503
      response.writeHead(status, { 'retry-after': '2' })
      return response.end(JSON.stringify({ code: act, detail: act, status }))
    })
  }
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  t.after(close)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths, close }
}

function clientOf(t: TestContext, url: string | string[]) {
  const pauses: number[] = []
  const clock = {
    async sleep(ms: number) {
      pauses.push(ms)
    },
  }
  const client = connect({ url, token: 'token', clock, random: () => 0.5 })
  t.after(() => client.close())
  return { client, pauses }
}

const keyed = [{ job: 'a', idempotencyKey: 'k' }]
const deduped = [{ job: 'a', dedupeKey: 'k' }]
const bare = [{ job: 'a' }]
const poll = { registration: 1, number: 1, answered: 0, done: [], free: 1, waitMs: 0 }
const beat = { registration: 1, answered: 0, held: [] }
type Client = ReturnType<typeof connect>

const table: [
  why: string,
  acts: Act[],
  call: (client: Client) => Promise<unknown>,
  expected: { requests: number; error?: { code: ErrorCode; outcome: string } },
][] = [
  [
    'a run with an idempotency key is sent again',
    ['hang-up', 'ok'],
    (c) => c.submit(keyed),
    { requests: 2 },
  ],
  [
    'a run with a dedupe key is sent again',
    ['hang-up', 'ok'],
    (c) => c.submit(deduped),
    { requests: 2 },
  ],
  [
    'a run without a key is never sent twice',
    ['hang-up', 'ok'],
    (c) => c.submit(bare),
    { requests: 1, error: { code: 'server_unreachable', outcome: 'unknown' } },
  ],
  [
    'one run without a key spoils the batch it came in',
    ['hang-up', 'ok'],
    (c) => c.submit([...keyed, ...bare]),
    { requests: 1, error: { code: 'server_unreachable', outcome: 'unknown' } },
  ],
  [
    'a store that went away may have taken the run',
    ['store_unavailable', 'ok'],
    (c) => c.submit(bare),
    { requests: 1, error: { code: 'store_unavailable', outcome: 'unknown' } },
  ],
  [
    'an overloaded server has taken nothing, and is not pressed',
    ['overloaded', 'ok'],
    (c) => c.submit(bare),
    { requests: 1, error: { code: 'overloaded', outcome: 'refused' } },
  ],
  [
    'with a key, an overloaded server is asked again',
    ['overloaded', 'ok'],
    (c) => c.submit(keyed),
    { requests: 2 },
  ],
  [
    'a run that may have been taken is not called refused because the server is overloaded now',
    ['hang-up', 'overloaded'],
    (c) => c.submit(keyed),
    { requests: 4, error: { code: 'overloaded', outcome: 'unknown' } },
  ],
  [
    'a list is read again',
    ['store_unavailable', 'hang-up', 'ok'],
    (c) => c.listRuns(),
    { requests: 3 },
  ],
  [
    'an exchange is repeated until answered',
    ['overloaded', 'ok'],
    (c) => c.exchange({ id: SESSION }, poll),
    { requests: 2 },
  ],
  [
    'a heartbeat is repeated',
    ['hang-up', 'ok'],
    (c) => c.heartbeat({ id: SESSION }, beat),
    { requests: 2 },
  ],
  [
    'a cancel whose answer is lost is not repeated',
    ['hang-up', 'ok'],
    (c) => c.cancel(RUN),
    { requests: 1, error: { code: 'server_unreachable', outcome: 'unknown' } },
  ],
  [
    'a retry would be another run, so it is not repeated',
    ['hang-up', 'ok'],
    (c) => c.retry(RUN),
    { requests: 1, error: { code: 'server_unreachable', outcome: 'unknown' } },
  ],
  [
    'what is refused for good is not asked again',
    ['run_is_final', 'ok'],
    (c) => c.getRun(RUN),
    { requests: 1, error: { code: 'run_is_final', outcome: 'refused' } },
  ],
  [
    'a proxy that answers for the server is not believed',
    ['proxy'],
    (c) => c.submit(bare),
    { requests: 1, error: { code: 'server_unreachable', outcome: 'unknown' } },
  ],
  [
    'patience ends',
    ['store_unavailable'],
    (c) => c.listRuns(),
    { requests: 4, error: { code: 'store_unavailable', outcome: 'unknown' } },
  ],
]

for (const [why, acts, call, { requests, error }] of table) {
  test(why, async (t) => {
    const { url, paths } = await stage(t, ...acts)
    const { client } = clientOf(t, url)
    if (error) await assert.rejects(call(client), error)
    else await call(client)
    assert.equal(paths.length, requests)
  })
}

test('pauses grow, have jitter, and are never shorter than the server requested', async (t) => {
  const lost = await stage(t, 'hang-up', 'hang-up', 'hang-up', 'ok')
  const first = clientOf(t, lost.url)
  await first.client.listRuns()
  assert.deepEqual(first.pauses, [125, 250, 500])
  const asked = await stage(t, 'overloaded', 'ok')
  const second = clientOf(t, asked.url)
  await second.client.listRuns()
  assert.deepEqual(second.pauses, [2_500])
})

test('a server that is gone costs only the move to the next, even without a key', async (t) => {
  const gone = await stage(t, 'ok')
  gone.close()
  const there = await stage(t, 'ok')
  const { client, pauses } = clientOf(t, [gone.url, there.url])
  assert.equal((await client.submit(bare))[0]?.id, RUN)
  await client.submit(bare)
  assert.deepEqual([there.paths.length, pauses.length], [2, 0])
})

for (const code of ['node_stopping', 'node_cannot_renew'] as const) {
  test(`after ${code} calls move to the next server and stay there`, async (t) => {
    const leaving = await stage(t, code)
    const there = await stage(t, 'ok')
    const { client, pauses } = clientOf(t, [leaving.url, there.url])
    await client.submit(bare)
    await client.heartbeat({ id: SESSION }, beat)
    assert.deepEqual([leaving.paths.length, there.paths.length, pauses.length], [1, 2, 0])
  })
}

test('after a lost answer calls move on too, but a call without a key is not repeated', async (t) => {
  const failing = await stage(t, 'hang-up')
  const there = await stage(t, 'ok')
  const { client } = clientOf(t, [failing.url, there.url])
  await assert.rejects(client.submit(bare), { outcome: 'unknown' })
  assert.equal(there.paths.length, 0)
  await client.submit(bare)
  assert.deepEqual([failing.paths.length, there.paths.length], [1, 1])
})

test('calls that fail together move on together, not one server each', async (t) => {
  const leaving = await stage(t, 'node_stopping')
  const there = await stage(t, 'ok')
  const spare = await stage(t, 'ok')
  const { client } = clientOf(t, [leaving.url, there.url, spare.url])
  await Promise.all(Array.from({ length: 8 }, () => client.listRuns().catch(() => undefined)))
  assert.equal(spare.paths.length, 0)
})

test('when every server is gone, the error says so and that nothing was done', async (t) => {
  const gone = await stage(t, 'ok')
  gone.close()
  const { client, pauses } = clientOf(t, [gone.url, gone.url])
  await assert.rejects(client.submit(bare), { code: 'server_unreachable', outcome: 'refused' })
  assert.deepEqual(pauses, [])
})
