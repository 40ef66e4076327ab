import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openHome } from '../support/punctual-home.ts'
import { startKillableServer } from '../support/killable-server.ts'

const HELLO = {
  name: 'w',
  queues: ['default'],
  labels: {},
  executors: ['handler:job'],
  slots: 1,
  registration: 1,
  held: [],
  forsaken: [],
}
const BEAT = { registration: 1, answered: 0, held: [] }
const POLL = { registration: 1, number: 1, answered: 0, done: [], free: 1, wait_ms: 0 }

test('a server restarted with --worker-protocol 2 refuses old workers, known or new', async (t) => {
  const home = openHome(t)
  const before = await startKillableServer(home, '--slots', '0')
  const { session } = await before.call<{ session: string }>('POST', '/v1/workers', HELLO)
  await before.call('POST', `/v1/workers/${session}/heartbeat`, BEAT)
  await before.kill()
  const url = await home.up('--worker-protocol', '2')
  const token = readFileSync(join(home.dataDir, 'admin-token'), 'utf8').trim()
  const post = async (path: string, body: object) => {
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return ((await answer.json()) as { code?: string; session_secret?: string }) ?? {}
  }
  assert.equal((await post(`/v1/workers/${session}/heartbeat`, BEAT)).code, 'session_unknown')
  assert.equal((await post(`/v1/workers/${session}/exchange`, POLL)).code, 'session_unknown')
  const back = { ...HELLO, session, registration: 2 }
  assert.equal((await post('/v1/workers', back)).code, 'protocol_unsupported')
  const newer = { ...back, protocol: [1, 2] }
  assert.equal((await post('/v1/workers', newer)).code, 'session_unknown')
  assert.equal((await post('/v1/workers', HELLO)).code, 'protocol_unsupported')
  const { session_secret: secret } = await post('/v1/workers', { ...HELLO, protocol: [1, 2] })
  assert.match(String(secret), /^[\w-]{43}$/)
  // The server's own worker uses version 2.
  const { code, out, err } = await home.run(['exec', '--server', url, '--', 'echo', 'done'], {
    PUNCTUAL_TOKEN: token,
  })
  assert.deepEqual([code, out.includes('done'), err], [0, true, err])
})

test('an unknown version of the worker protocol prevents a server from starting', async (t) => {
  const home = openHome(t)
  const flags = ['--port', '0', '--data', home.dataDir]
  const { code, err } = await home.run(['server', ...flags, '--worker-protocol', '3'])
  assert.equal(code, 78)
  assert.match(err, /worker-protocol is "3" and not 1 or 2/)
})
