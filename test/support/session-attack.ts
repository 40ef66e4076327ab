import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { waitFor } from './wait-for.ts'

/** A server under attack, with its root token. */
export interface SessionTarget {
  readonly nodes: readonly { readonly url: string; readonly root: string }[]
  /** Ids of sessions that an attacker should not be able to obtain. */
  stolenSessions(): Promise<readonly string[]>
}

interface Answer {
  readonly status: number
  readonly text: string
}

const PASSWORD = 'hunter2-of-the-shop'
const PROJECT = 'shop'
const LARGEST = 2 ** 31 - 1

async function call(
  url: string,
  token: string,
  [method, path]: readonly [method: string, path: string],
  body?: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const answer = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...headers,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: answer.status, text: await answer.text() }
}

/** Requests with a token of one project against sessions of workers of another. */
export interface SessionAttack {
  /** The run of the other project, which is running. */
  readonly run: string
  readonly requests: number
  /** Asserts that the run is unaffected and ends normally. */
  assertUnharmed(): Promise<void>
}

/**
 * A run of the project `shop` that needs a secret is running, and others wait behind it. Tokens of `default`
 * then try every request of the worker protocol with every known session.
 */
export async function attackSessions(target: SessionTarget, gate: string): Promise<SessionAttack> {
  const [first] = target.nodes
  assert.ok(first)
  const asRoot = async (path: readonly [string, string], body?: object) => {
    const answer = await call(first.url, first.root, path, body, { 'punctual-project': PROJECT })
    assert.ok(answer.status < 300, `${path.join(' ')} gave ${answer.status} ${answer.text}`)
    return JSON.parse(answer.text === '' ? '{}' : answer.text) as Record<string, string>
  }
  await asRoot(['PUT', '/v1/secrets/DB_PASSWORD'], { value: PASSWORD })
  const body = { run: `while [ ! -e ${gate} ]; do sleep 0.05; done`, secrets: ['DB_PASSWORD'] }
  const run = (await asRoot(['POST', '/v1/runs'], body))['id'] as string
  const isRunning = async () => (await asRoot(['GET', `/v1/runs/${run}`]))['state'] === 'running'
  await waitFor(isRunning, { what: 'the run to start' })
  // More runs than slots: an accepted request would be granted one of them.
  for (let i = 0; i < 12; i += 1) await asRoot(['POST', '/v1/runs'], body)
  const requests = await tryAllRequests(target, run)
  return {
    run,
    requests,
    async assertUnharmed() {
      const under = await asRoot(['GET', `/v1/runs/${run}`])
      assert.deepEqual([under['state'], under['attempt'], under['lost']], ['running', 1, 0])
      writeFileSync(gate, '')
      const over = await asRoot(['GET', `/v1/runs/${run}?wait=60s`])
      assert.deepEqual([over['state'], over['attempt'], over['lost']], ['succeeded', 1, 0])
    },
  }
}

async function tryAllRequests(target: SessionTarget, run: string): Promise<number> {
  const [first] = target.nodes
  assert.ok(first)
  let requests = 0
  for (const role of ['worker', 'admin']) {
    const made = await call(first.url, first.root, ['POST', '/v1/tokens'], { name: 'thief', role })
    const { token } = JSON.parse(made.text) as { token: string }
    for (const node of target.nodes) {
      for (const session of await targets(target, node)) {
        for (const [path, body] of attempts(session, run)) {
          const answer = await call(node.url, token, ['POST', path], body)
          requests += 1
          assert.ok(!answer.text.includes(PASSWORD), `${path} told the secret`)
          const { code } = JSON.parse(answer.text) as { code?: string }
          assert.equal(code, 'session_unknown', `${path} gave ${answer.status} ${answer.text}`)
        }
      }
    }
  }
  return requests
}

/** Session ids as shown in lists, guessed from lists, and stolen. */
async function targets(
  target: SessionTarget,
  { url, root }: SessionTarget['nodes'][number],
): Promise<readonly string[]> {
  const list = await call(url, root, ['GET', '/v1/workers'])
  assert.ok(!list.text.includes('ses_'), 'a list shows a session')
  const { data } = JSON.parse(list.text) as { data: { id: string }[] }
  const shown = data.map(({ id }) => id.replace('wrk_', 'ses_'))
  const stolen = await target.stolenSessions()
  assert.ok(stolen.length > 0 && shown.length > 0)
  assert.ok(!shown.some((id) => stolen.includes(id)))
  return [...shown, ...stolen]
}

function attempts(session: string, run: string): readonly (readonly [string, object])[] {
  const at = (verb: string) => `/v1/workers/${session}/${verb}`
  const offer = { name: 'w', queues: ['default'], labels: {}, executors: ['shell'], slots: 8 }
  const hello = { ...offer, features: ['secrets'], session, held: [], forsaken: [] }
  const poll = { registration: 1, answered: 0, done: [], free: 1, wait_ms: 0 }
  const done = [{ run, fence: 1_048_576, outcome: 'succeeded' }]
  const entries = [[0, 1, 'forged']]
  return [
    [at('heartbeat'), { registration: 1, answered: 1_000_000_000, held: [] }],
    [at('heartbeat'), { registration: 1, answered: 0, held: [] }],
    ...[1, 2, 3, 100, LARGEST].map((number) => [at('exchange'), { ...poll, number }] as const),
    [at('exchange'), { ...poll, number: 4, done }],
    [at('logs'), { registration: 1, chunks: [{ run, fence: 1_048_576, chunk: 0, entries }] }],
    [at('leave'), { registration: 1 }],
    ['/v1/workers', { ...hello, registration: 2 }],
    ['/v1/workers', { ...hello, registration: LARGEST, protocol: [1, 2] }],
  ]
}
