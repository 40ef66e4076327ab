import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SubmitAnswer } from '../../src/core/wire/protocol.ts'
import type { WireWhy } from '../../src/core/wire/views.ts'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { waitFor } from '../support/wait-for.ts'
import { type OpenApi, openApi } from './open-api.ts'

async function submit({ call }: OpenApi, body: object): Promise<string> {
  const answer = await call<SubmitAnswer>('POST', '/v1/runs', { body })
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body.id
}

async function ended({ call }: OpenApi, id: string): Promise<WireRun> {
  return waitFor(
    async () => {
      const { body } = await call<WireRun>('GET', `/v1/runs/${id}?wait=5s`)
      return body.finished_at === null ? undefined : body
    },
    { what: `${id} to end` },
  )
}

test('a run starts after others have ended as required, or is skipped', async (t) => {
  const api = await openApi(t)
  const gate = Promise.withResolvers<void>()
  const handlers = {
    good: () => gate.promise,
    bad: async () => {
      await gate.promise
      throw new Error('no')
    },
    next: () => 'done',
  }
  await api.startWorker({ handlers, slots: 8 })
  const good = await submit(api, { job: 'good' })
  const bad = await submit(api, { job: 'bad' })
  const next = (...after: object[]) => submit(api, { job: 'next', after })
  const both = await next({ run: good }, { run: bad, on: 'notok' })
  const either = await next({ run: good, on: 'any' }, { run: bad, on: 'any' })
  const never = await next({ run: good }, { run: bad })
  const chained = await next({ run: both })
  const why = await api.call<WireWhy>('GET', `/v1/runs/${both}/why`)
  assert.deepEqual([why.body.state, why.body.code], ['blocked', 'after'])
  assert.match(why.body.sentence, new RegExp(`^It has waited .* for ${good} and 1 more to end\\.$`))
  gate.resolve()
  const states = await Promise.all(
    [both, either, never, chained].map(async (id) => (await ended(api, id)).state),
  )
  assert.deepEqual(states, ['succeeded', 'succeeded', 'skipped', 'succeeded'])
  assert.equal((await ended(api, never)).message, `${bad} ended as failed`)
  const late = await next({ run: good })
  assert.equal((await ended(api, late)).state, 'succeeded', 'what has ended need not be waited for')
})

test('a run starts after a workflow, and a workflow after a run', async (t) => {
  const api = await openApi(t)
  const gate = Promise.withResolvers<void>()
  await api.startWorker({ handlers: { first: () => gate.promise, last: () => 'done' } })
  await api.call('PUT', '/v1/jobs/flow', { body: { steps: [{ task: 'last' }, { task: 'last' }] } })
  const first = await submit(api, { job: 'first' })
  const flow = await submit(api, { job: 'flow', after: [{ run: first }] })
  const last = await submit(api, { job: 'last', after: [{ run: flow }] })
  gate.resolve()
  const [a, b, c] = await Promise.all([first, flow, last].map((id) => ended(api, id)))
  assert.deepEqual([a?.state, b?.state, c?.state], ['succeeded', 'succeeded', 'succeeded'])
  assert.ok((a?.finished_at ?? 'z') <= (b?.started_at ?? ''))
  assert.ok((b?.finished_at ?? 'z') <= (c?.started_at ?? ''))
})

test('an invalid dependency is refused, alone or in a batch', async (t) => {
  const api = await openApi(t)
  const unknown = { job: 'a', after: [{ run: 'run_00000000001' }] }
  const alone = await api.call('POST', '/v1/runs', { body: unknown })
  assert.deepEqual(
    [alone.status, alone.body['code'], alone.body['field']],
    [404, 'run_not_found', 'after'],
  )
  const batch = await api.call<{ runs: { id?: string; error?: { code: string } }[] }>(
    ...(['POST', '/v1/runs:batch', { body: { runs: [{ job: 'a' }, unknown] } }] as const),
  )
  assert.deepEqual(
    batch.body.runs.map(({ error }) => error?.code),
    [undefined, 'run_not_found'],
  )
  const foreign = await api.call<SubmitAnswer>('POST', '/v1/runs', {
    body: { job: 'a' },
    headers: { 'punctual-project': 'other' },
  })
  const theirs = { job: 'a', after: [{ run: foreign.body.id }] }
  assert.equal((await api.call('POST', '/v1/runs', { body: theirs })).status, 404)
  const huge = { job: 'a', after: [{ run: 'run_zzzzzzzzzzz' }] }
  const big = await api.call('POST', '/v1/runs:batch', { body: { runs: [{ job: 'a' }, huge] } })
  assert.deepEqual([big.status, big.body['field']], [400, 'runs.1.after.0.run'])
  for (const after of [[], [{ run: 'x' }], [{ run: foreign.body.id, on: 'maybe' }], {}]) {
    assert.equal((await api.call('POST', '/v1/runs', { body: { job: 'a', after } })).status, 422)
  }
})
