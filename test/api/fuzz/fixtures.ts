import { mintSecret } from '../../../src/server/webhooks/signing.ts'
import type { OpenApi } from '../open-api.ts'
import type { Pool } from './pool.ts'

export const HOOK_SECRET = mintSecret()

/**
 * Creates a job, its schedule and a backfill, a workflow with an approval, a queue, a token, a secret, a
 * webhook, a worker and an ended run with output.
 */
export async function createFixtures({ call }: OpenApi, pool: Pool): Promise<void> {
  const made = async <T extends object>(method: string, path: string, body: object): Promise<T> => {
    const answer = await call<T>(method, path, { body })
    if (answer.status >= 300) throw new Error(`${method} ${path} gave ${answer.status}`)
    pool.learn(answer.body, Object.fromEntries(answer.headers))
    return answer.body
  }
  await made('PUT', '/v1/jobs/a', { task: 'a' })
  await made('PUT', '/v1/jobs/kept', { task: 'a', schedule: { name: 'kept', every: '2s' } })
  const past = { from: '2026-01-01T00:00:00Z', until: '2026-01-01T00:00:10Z' }
  await made('POST', '/v1/jobs/kept/schedules/kept/backfill', { ...past, max_parallel: 1 })
  const steps = { ask: { approve: {} }, each: { task: 'a', needs: 'ask', each: [1, 2] } }
  await made('PUT', '/v1/jobs/flow', { steps, concurrency: 'none' })
  for (let count = 0; count < 10; count += 1) {
    const { id } = await made<{ id: string }>('POST', '/v1/jobs/flow/runs', {})
    const shown = await call('GET', `/v1/runs/${id}`)
    pool.learn(shown.body, {})
  }
  await made('PUT', '/v1/jobs/hooked', { task: 'a', triggers: [{ webhook: 'orders' }] })
  await made('PUT', '/v1/secrets/HOOK_ORDERS', { value: HOOK_SECRET })
  await made('PATCH', '/v1/queues/a', { default_timeout: '1h' })
  await made('POST', '/v1/tokens', { name: 'ci', role: 'viewer' })
  await made('PUT', '/v1/secrets/PASSWORD', { value: 'hunter22' })
  await made('PUT', '/v1/webhooks/a', { url: 'http://127.0.0.1:9/', events: ['run.failed'] })
  await made('POST', '/v1/webhooks/a/test', {})
  const { session } = await made<{ session: string }>('POST', '/v1/workers', {
    name: 'w',
    queues: ['default'],
    labels: {},
    executors: ['handler:a'],
    slots: 1,
    registration: 1,
    held: [],
    forsaken: [],
  })
  await made('POST', '/v1/jobs/a/runs', { input: 1 })
  const at = `/v1/workers/${session}`
  const turn = { registration: 1, done: [], free: 1, wait_ms: 5_000 }
  const { runs } = await made<{ runs: { run: string; fence: number }[] }>(
    ...(['POST', `${at}/exchange`, { ...turn, number: 1, answered: 0 }] as const),
  )
  const { run, fence } = runs[0] as (typeof runs)[number]
  const chunk = { run, fence, chunk: 0, entries: [[1, 1, 'hi\n']] }
  await made('POST', `${at}/logs`, { registration: 1, chunks: [chunk] })
  const output = { chunks: 1, bytes: 3 }
  const done = [
    { run, fence, outcome: 'succeeded', result: '1', process: { exit_code: 0, output } },
  ]
  await made('POST', `${at}/exchange`, { ...turn, number: 2, answered: 1, done, free: 0 })
  await made('POST', '/v1/runs', { job: 'a', run_at: '2999-01-01T00:00:00Z' })
}
