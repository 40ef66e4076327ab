import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { SubmitAnswer } from '../../src/core/wire/protocol.ts'
import type { WireProblem, WireOutcome } from '../../src/core/wire/runs.ts'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { postgresUrl } from '../support/servers.ts'
import { type OpenApi, openApi } from './open-api.ts'

type Refused = WireProblem & SubmitAnswer

async function open(t: TestContext, store?: string) {
  const api = await openApi(t, store === undefined ? {} : { store })
  const submit = (body: object, headers = {}) =>
    api.call<Refused>('POST', '/v1/runs', { body, headers })
  return { api, submit, refuse: (job: string) => submit({ job, unknown_job: 'refuse' }) }
}

async function ended({ call }: OpenApi, id: string): Promise<string> {
  return (await call<WireRun>('GET', `/v1/runs/${id}?wait=60s`)).body.state
}

test('a run of an unknown job is refused if the caller asks for that, with the closest name', async (t) => {
  const { api, submit, refuse } = await open(t)
  await api.call('PUT', '/v1/jobs/backup', { body: { run: 'true' } })
  await api.startWorker({ name: 'w1', handlers: { 'send-mail': () => 'sent' } })

  const typo = await refuse('backp')
  assert.deepEqual([typo.status, typo.body.code, typo.body.field], [404, 'job_not_found', 'job'])
  assert.match(typo.body.detail, /there is no job backp.*; did you mean backup\?$/)
  assert.match(typo.body.hint, /`task: backp`/)
  assert.match((await refuse('send-mial')).body.detail, /did you mean send-mail\?$/)
  assert.doesNotMatch((await refuse('zzzzzzzzz')).body.detail, /did you mean/)

  for (const job of ['backup', 'send-mail']) {
    const { status, body } = await refuse(job)
    assert.equal(status, 201, JSON.stringify(body))
    assert.equal(await ended(api, body.id), 'succeeded')
  }
  const others = [
    { job: 'backp' },
    { job: 'backp', unknown_job: 'accept' },
    { job: 'backp', task: 'backp', unknown_job: 'refuse' },
    { job: 'backp', run: 'true', unknown_job: 'refuse' },
  ]
  for (const body of others) assert.equal((await submit(body)).status, 201, JSON.stringify(body))
  assert.equal((await submit({ job: 'backp', unknown_job: 'maybe' })).status, 422)
})

test('a batch with an unknown job is refused, and a repeated key matches with or without the field', async (t) => {
  const { api, submit } = await open(t)
  await api.call('PUT', '/v1/jobs/backup', { body: { run: 'true' } })
  const runs = [{ job: 'backup' }, { job: 'backp', unknown_job: 'refuse' }]
  const batch = await api.call<{ runs?: WireOutcome[]; code?: string }>('POST', '/v1/runs:batch', {
    body: { runs },
  })
  assert.deepEqual([batch.status, batch.body.code], [404, 'job_not_found'])
  const headers = { 'idempotency-key': 'once' }
  const first = await submit({ job: 'backup' }, headers)
  const again = await submit({ job: 'backup', unknown_job: 'refuse' }, headers)
  assert.deepEqual([again.status, again.body.id], [200, first.body.id])
})

for (const store of ['SQLite', 'PostgreSQL'] as const) {
  test(`a handler is known from its worker, even after that has left, and from its runs, on ${store}`, async (t) => {
    const url = store === 'PostgreSQL' ? await postgresUrl() : undefined
    const { api, refuse } = await open(t, url)
    const worker = await api.startWorker({ name: 'w1', handlers: { used: () => 1, idle: () => 2 } })
    const { body } = await refuse('used')
    assert.equal(await ended(api, body.id), 'succeeded')
    const other = url === undefined ? undefined : await open(t, url)
    assert.equal((await other?.refuse('idle'))?.status ?? 201, 201)
    await worker.drain(0)
    // This node saw neither the worker nor its end: it knows the handler only from the run.
    assert.equal((await other?.refuse('used'))?.status ?? 201, 201)
    assert.equal((await other?.refuse('idle'))?.status ?? 404, 404)
    assert.equal((await refuse('used')).status, 201)
    assert.equal((await refuse('idle')).status, 201)
    assert.equal((await refuse('never')).status, 404)
    // No worker of the other project has it.
    const elsewhere = await api.call('POST', '/v1/runs', {
      body: { job: 'idle', unknown_job: 'refuse' },
      headers: { 'punctual-project': 'acme' },
    })
    assert.equal(elsewhere.status, 404)
  })
}
