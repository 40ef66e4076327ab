import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { waitFor } from '../support/wait-for.ts'
import { type OpenApi, openApi } from './open-api.ts'

const AT = '${{ run.scheduled_at }}'
const AUCKLAND = { name: 'nightly', cron: '30 0 * * *', zone: 'Pacific/Auckland' }
/** Local time in the schedule's zone; in UTC it was the day before. */
const THEN = '2026-01-02T00:30:00+13:00'

type Shown = WireRun & { input: unknown }

/** The inputs of the runs of a job, the latest first, once there are `count`. */
async function inputsOf({ call }: OpenApi, job: string, count: number): Promise<unknown[]> {
  const runs = await waitFor(
    async () => {
      const { body } = await call<{ data: WireRun[] }>('GET', '/v1/runs')
      const own = body.data.filter((run) => run.job === job)
      return own.length === count ? own : undefined
    },
    { what: `${count} runs of ${job}`, deadlineMs: 60_000 },
  )
  const shown = await Promise.all(runs.map(({ id }) => call<Shown>('GET', `/v1/runs/${id}`)))
  return shown.map(({ body }) => body.input)
}

/** The run of a past due time of a job's schedule. */
async function pastRun(api: OpenApi, job: string, body: object): Promise<string> {
  const { call } = api
  const put = await call('PUT', `/v1/jobs/${job}`, { body: { ...body, schedule: AUCKLAND } })
  assert.equal(put.status, 201, JSON.stringify(put.body))
  const range = { from: '2026-01-01T00:00:00Z', until: '2026-01-02T00:00:00Z' }
  await call('POST', `/v1/jobs/${job}/schedules/nightly/backfill`, { body: range })
  const run = await waitFor(
    async () => (await call<{ data: WireRun[] }>('GET', `/v1/runs?job=${job}`)).body.data[0],
    { what: 'the run of a past time', deadlineMs: 60_000 },
  )
  return run.id
}

async function cancelled({ call }: OpenApi, id: string): Promise<void> {
  await call('POST', `/v1/runs/${id}/cancel`)
  await waitFor(
    async () => {
      const { body } = await call<WireRun>('GET', `/v1/runs/${id}`)
      return body.finished_at === null ? undefined : body
    },
    { what: 'the run to end', deadlineMs: 60_000 },
  )
}

const input = { at: { type: 'string', default: AT } }

test("steps know the due time of their run in the schedule's zone, and so do those of a retry", async (t) => {
  const api = await openApi(t)
  await api.call('PUT', '/v1/jobs/inner', {
    body: { input, steps: [{ name: 'in', task: 'in', with: { at: AT } }] },
  })
  const id = await pastRun(api, 'outer', {
    concurrency: 'none',
    steps: {
      own: { task: 'own', with: { at: AT } },
      sub: { job: 'inner' },
    },
  })
  assert.deepEqual(await inputsOf(api, 'outer/own', 1), [{ at: THEN }])
  assert.deepEqual(await inputsOf(api, 'inner', 1), [{ at: THEN }])
  assert.deepEqual(await inputsOf(api, 'inner/in', 1), [{ at: THEN }])

  await cancelled(api, id)
  const { body: part } = await api.call<WireRun>('POST', `/v1/runs/${id}/retry`, {
    body: { only: 'failed' },
  })
  assert.deepEqual(await inputsOf(api, 'outer/own', 2), [{ at: THEN }, { at: THEN }])
  await cancelled(api, part.id)
  const { body: whole } = await api.call<WireRun>('POST', `/v1/runs/${part.id}/retry`)
  assert.deepEqual((await inputsOf(api, 'outer/own', 3))[0], { at: THEN })
  assert.deepEqual((await inputsOf(api, 'inner', 3))[0], { at: THEN })
  await cancelled(api, whole.id)
  await api.call('POST', `/v1/runs/${whole.id}/retry`, { body: { version: 1 } })
  assert.deepEqual((await inputsOf(api, 'outer/own', 4))[0], { at: THEN })
})

test('a replay with another input keeps the due time of the first run', async (t) => {
  const api = await openApi(t)
  const first = await pastRun(api, 'show', {
    input: { ...input, note: { type: 'string', default: 'none' } },
    run: 'true',
  })
  assert.deepEqual(await inputsOf(api, 'show', 1), [{ at: THEN, note: 'none' }])
  await cancelled(api, first)
  const { body: again } = await api.call<WireRun>('POST', `/v1/runs/${first}/retry`)
  await cancelled(api, again.id)
  await api.call('POST', `/v1/runs/${again.id}/retry`, { body: { input: { note: 'new' } } })
  assert.deepEqual((await inputsOf(api, 'show', 3))[0], { at: THEN, note: 'new' })
})
