import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { SubmitAnswer } from '../../src/core/wire/protocol.ts'
import type { WirePage, WireWhy } from '../../src/core/wire/views.ts'
import type { WireJob } from '../../src/core/job/job-views.ts'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { postgresUrl } from '../support/servers.ts'
import { waitFor } from '../support/wait-for.ts'
import { type OpenApi, openApi } from './open-api.ts'

async function put(api: OpenApi, name: string, body: object): Promise<void> {
  const { status, body: problem } = await api.call('PUT', `/v1/jobs/${name}`, { body })
  assert.ok(status < 300, JSON.stringify(problem))
}

/** Submits a run and waits until it has ended. */
async function run(api: OpenApi, body: object): Promise<WireRun> {
  const { body: answer } = await api.call<SubmitAnswer>('POST', '/v1/runs', { body })
  return waitFor(
    async () => {
      const { body: one } = await api.call<WireRun>('GET', `/v1/runs/${answer.id}?wait=5s`)
      return one.finished_at === null ? undefined : one
    },
    { what: `${answer.id} to end` },
  )
}

/** The ended runs of a job, once there are `count`. */
async function runsOf(api: OpenApi, job: string, count: number): Promise<readonly WireRun[]> {
  const page = await waitFor(
    async () => {
      const { body } = await api.call<WirePage<WireRun>>('GET', `/v1/runs?job=${job}&limit=50`)
      const ended = body.data.every(({ finished_at }) => finished_at !== null)
      return body.data.length >= count && ended ? body.data : undefined
    },
    { what: `${count} runs of ${job}` },
  )
  assert.equal(page.length, count, `as many runs of ${job} as ends that were wanted`)
  return page
}

const handlers = {
  ingest: (input: unknown) => {
    if ((input as { bad?: boolean } | null)?.bad) throw new Error('it is bad')
    return { rows: 42 }
  },
  report: (input: unknown) => input,
  alarm: (input: unknown) => input,
}

async function openEnvironment(t: TestContext, store?: string): Promise<OpenApi> {
  const api = await openApi(t, store === undefined ? {} : { store })
  await api.startWorker({ handlers })
  await put(api, 'report', {
    task: 'report',
    input: { rows: { type: 'integer' }, day: { type: 'string', default: 'today' } },
    triggers: [
      {
        after: 'ingest',
        input: { rows: '${{ after.output.rows }}', day: '${{ after.input.day }}' },
      },
    ],
  })
  await put(api, 'alarm', {
    task: 'alarm',
    triggers: [
      { after: 'ingest', on: 'notok', input: '${{ after.job }}: ${{ after.state }}' },
      { webhook: 'alarm' },
    ],
  })
  return api
}

async function runStory(api: OpenApi): Promise<void> {
  const good = await run(api, { job: 'ingest', input: { day: 'monday' } })
  const [report] = await runsOf(api, 'report', 1)
  assert.deepEqual([report?.state, report?.result], ['succeeded', { rows: 42, day: 'monday' }])
  const bad = await run(api, { job: 'ingest', input: { bad: true } })
  const [alarm] = await runsOf(api, 'alarm', 1)
  assert.equal(alarm?.result, 'ingest: failed')
  await runsOf(api, 'report', 1)

  const shown = await api.call<WireRun>('GET', `/v1/runs/${report?.id}`)
  const trigger = { kind: 'after', run: good.id, job: 'ingest', state: 'succeeded' }
  assert.deepEqual(shown.body.trigger, trigger)
  const why = async (id: string) =>
    (await api.call<WireWhy>('GET', `/v1/runs/${id}/why`)).body.details
  assert.deepEqual(await why(String(report?.id)), [
    `It runs after ${good.id} of ingest, which succeeded.`,
  ])
  assert.deepEqual(await why(bad.id), [`alarm runs after it: ${alarm?.id}.`])
  assert.equal((await api.call<WireRun>('GET', `/v1/runs/${good.id}`)).body.trigger, null)
}

test('a job runs after another with its result, and both runs say so', async (t) => {
  await runStory(await openEnvironment(t))
})

test('the same on PostgreSQL', async (t) => {
  await runStory(await openEnvironment(t, await postgresUrl()))
})

test('a job shows which jobs it follows, which follow it, and the outcomes', async (t) => {
  const api = await openEnvironment(t)
  await put(api, 'ingest', { task: 'ingest' })
  const get = async (name: string) => (await api.call<WireJob>('GET', `/v1/jobs/${name}`)).body
  assert.deepEqual((await get('ingest')).followers, ['alarm', 'report'])
  const first = await run(api, { job: 'ingest', input: { day: 'monday' } })
  const [report] = await runsOf(api, 'report', 1)
  const lost = await run(api, { job: 'ingest' })
  const followUps = await waitFor(
    async () => {
      const { follow_ups: list = [] } = await get('report')
      return list.length === 2 && list.every((one) => one.run ?? one.reason) ? list : undefined
    },
    { what: 'both ends to be settled' },
  )
  const of = { job: 'ingest', state: 'succeeded' }
  assert.deepEqual(
    followUps.map(({ at: _, ...one }) => one),
    [
      { ...of, after: lost.id, run: null, reason: 'input.day must be text' },
      { ...of, after: first.id, run: report?.id, reason: null },
    ],
  )
  const { body: list } = await api.call<WirePage<WireJob>>('GET', '/v1/jobs')
  assert.ok(list.data.every((job) => !('followers' in job) && !('follow_ups' in job)))
})

test('a paused job does not run, and shows that it should have', async (t) => {
  const api = await openEnvironment(t)
  await api.call('POST', '/v1/jobs/alarm/pause', { body: { reason: 'holidays' } })
  const { id } = await run(api, { job: 'ingest', input: { bad: true } })
  const sentence = 'alarm was to run after it, and did not: it is paused: holidays.'
  const details = await waitFor(
    async () => {
      const { body } = await api.call<WireWhy>('GET', `/v1/runs/${id}/why`)
      return body.details[0]?.includes('about to') ? undefined : body.details
    },
    { what: 'it to be settled' },
  )
  assert.deepEqual(details, [sentence])
  await api.call('POST', '/v1/jobs/alarm/resume')
  await run(api, { job: 'ingest', input: { bad: true } })
  await runsOf(api, 'alarm', 1)
})

test('a workflow can be followed as a whole, and a step of it by name', async (t) => {
  const api = await openApi(t)
  await api.startWorker({ handlers: { ...handlers, load: () => 'loaded', tidy: () => 'tidied' } })
  const steps = {
    ingest: { job: 'ingest' },
    load: { task: 'load', needs: 'ingest', retry: { max: 1 } },
  }
  await put(api, 'etl', { steps })
  await put(api, 'report', {
    task: 'report',
    triggers: [{ after: 'etl', input: '${{ after.job }}' }],
  })
  await put(api, 'alarm', { task: 'alarm', triggers: [{ after: 'ingest', on: 'any' }] })
  await put(api, 'tidy', { task: 'tidy', triggers: [{ after: 'etl/load' }] })
  await run(api, { job: 'etl' })
  const [[report], [tidy]] = [await runsOf(api, 'report', 1), await runsOf(api, 'tidy', 1)]
  assert.deepEqual([report?.result, tidy?.result], ['etl', 'tidied'])
  const shown = await api.call<WireRun>('GET', `/v1/runs/${tidy?.id}`)
  assert.equal(shown.body.trigger?.job, 'etl/load')
  await runsOf(api, 'alarm', 0)
  const job = await api.call<WireJob>('GET', '/v1/jobs/etl')
  assert.deepEqual(job.body.followers, ['report', 'tidy'])
})

test('projects do not follow each other, and a deleted job follows nothing', async (t) => {
  const api = await openEnvironment(t)
  const headers = { 'punctual-project': 'other' }
  const body = { task: 'report', triggers: [{ after: 'ingest' }] }
  await api.call('PUT', '/v1/jobs/report', { body, headers })
  assert.equal((await api.call('DELETE', '/v1/jobs/alarm')).status, 204)
  await run(api, { job: 'ingest', input: { bad: true } })
  await run(api, { job: 'ingest', input: { day: 'monday' } })
  await runsOf(api, 'report', 1)
  await runsOf(api, 'alarm', 0)
  const other = await api.call<WirePage<WireRun>>('GET', '/v1/runs', { headers })
  assert.deepEqual(other.body.data, [])
})

const table: [why: string, triggers: unknown, field: string, message: RegExp][] = [
  ['itself', [{ after: 'a' }], 'triggers.0.after', /a would run after itself, forever/],
  ['a step of its own', [{ after: 'a/x' }], 'triggers.0.after', /after a step of its own/],
  [
    'those who follow it',
    [{ webhook: 'x' }, { after: 'c' }],
    'triggers.1.after',
    /: a → b → c → a$/,
  ],
  ['a step of one that follows it', [{ after: 'b/x' }], 'triggers.0.after', /: a → b → a$/],
  ['the same twice', [{ after: 'x' }, { after: 'x' }], 'triggers.1.after', /already runs after x/],
  ['nobody', [{}], 'triggers.0.after', /is missing: set after \(a job\) or webhook/],
  ['an invalid name', [{ after: 'a b' }], 'triggers.0.after', /must be a job, or a step/],
  ['two names', [{ after: 'x', webhook: 'y' }], 'triggers.0.webhook', /cannot be used with after/],
  ['an invalid end', [{ after: 'x', on: 'late' }], 'triggers.0.on', /one of ok, notok, any/],
  ['a call by its end', [{ webhook: 'x', on: 'ok' }], 'triggers.0.on', /belongs to after/],
  ['a call with an input', [{ webhook: 'x', input: 1 }], 'triggers.0.input', /belongs to after/],
  ['unknown words', [{ after: 'x', when: 'ok' }], 'triggers.0.when', /is not a field/],
  [
    'an input it does not take',
    [{ after: 'x', input: { dya: 'x' } }],
    'triggers.0.input.dya',
    /not an input of the job; did you mean triggers.0.input.day/,
  ],
  [
    'an input of another type',
    [{ after: 'x', input: { day: 7 } }],
    'triggers.0.input.day',
    /must be text/,
  ],
  ['without an input it needs', [{ after: 'x' }], 'triggers.0.input.day', /is missing/],
  [
    'an expression that knows no such thing',
    [{ after: 'x', input: { day: '${{ after.result }}' } }],
    'triggers.0.input.day',
    /after has no result/,
  ],
]

test('an invalid trigger is refused with the field and a hint', async (t) => {
  const api = await openApi(t)
  await put(api, 'b', { task: 'b', triggers: [{ after: 'a' }] })
  await put(api, 'c', { task: 'c', triggers: [{ after: 'b' }] })
  for (const [why, triggers, field, message] of table) {
    const needsInput = field.includes('.input.')
    const input = needsInput ? { input: { day: { type: 'string' } } } : {}
    const body = { task: 'a', triggers, ...input }
    const answer = await api.call<{ field: string; detail: string; hint: string }>(
      ...(['PUT', '/v1/jobs/a', { body }] as const),
    )
    assert.deepEqual([answer.status, answer.body.field], [422, field], why)
    assert.match(answer.body.detail, message, why)
    assert.ok(answer.body.hint.length > 10, why)
  }
  assert.equal((await api.call('GET', '/v1/jobs/a')).status, 404)
})

test('the value of the followed run cannot be used elsewhere', async (t) => {
  const api = await openApi(t)
  const body = { run: 'echo ${{ after.output }}' }
  const answer = await api.call('PUT', '/v1/jobs/a', { body })
  assert.deepEqual([answer.status, answer.body['code']], [422, 'invalid_expression'])
  assert.match(String(answer.body['detail']), /after.output is only available in a trigger/)
})
