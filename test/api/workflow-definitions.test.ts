import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WireJob } from '../../src/core/job/job-views.ts'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { waitFor } from '../support/wait-for.ts'
import { openApi, type OpenApi } from './open-api.ts'

test('a workflow is stored as it was written', async (t) => {
  const { call } = await openApi(t)
  const definition = {
    input: { day: { type: 'string', format: 'date', default: '${{ run.scheduled_at.date }}' } },
    concurrency: { limit: 2, key: 'etl-${{ input.day }}' },
    env: { PGHOST: 'db' },
    triggers: [{ webhook: 'deploy' }, { webhook: 'orders-ready' }],
    steps: {
      extract: { run: 'extract ${{ input.day }}' },
      load: {
        needs: 'extract',
        each: '${{ steps.extract.output.parts }}',
        max_parallel: 4,
        task: 'load',
        with: { part: '${{ item }}' },
      },
      sign_off: { needs: ['load'], approve: { by: ['lead'], timeout: '4h' } },
      tidy: { job: 'cleanup', finally: true },
    },
  }
  const made = await call<WireJob>('PUT', '/v1/jobs/etl', { body: definition })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  assert.deepEqual(made.body.definition, definition)
})

const refused: [why: string, body: unknown, code: string, field: string][] = [
  [
    'an unknown step',
    { steps: { a: { run: 'x', needs: ['b'] } } },
    'invalid_workflow',
    'steps.a.needs.0',
  ],
  [
    'a circle',
    { steps: { a: { run: 'x', needs: 'b' }, b: { run: 'x', needs: 'a' } } },
    'invalid_workflow',
    'steps.a.needs',
  ],
  ['a bad expression', { steps: [{ run: 'x ${{ nope }}' }] }, 'invalid_expression', 'steps.0.run'],
  ['an unknown field of a step', { steps: [{ rnu: 'x' }] }, 'unknown_field', 'steps.0.rnu'],
  [
    'a bad expression of a plain job',
    { run: 'x ${{ steps.a.output }}' },
    'invalid_expression',
    'run',
  ],
  ['a command together with steps', { run: 'x', steps: [{ run: 'x' }] }, 'invalid_field', 'run'],
  ['a bad rule', { steps: [{ run: 'x', when: 'sometimes' }] }, 'invalid_field', 'steps.0.when'],
]

for (const [why, body, code, field] of refused) {
  test(`a workflow is refused over HTTP: ${why}`, async (t) => {
    const { call } = await openApi(t)
    const { status, body: problem } = await call('PUT', '/v1/jobs/etl', { body })
    assert.deepEqual([status, problem['code'], problem['field']], [422, code, field])
  })
}

/** What a run of the job printed as its result, or the problem of submitting it. */
async function resultOf({ call }: OpenApi, input?: unknown) {
  const made = await call<{ id: string }>('POST', '/v1/jobs/show/runs', { body: { input } })
  if (made.status >= 400) return made.body as Record<string, unknown>
  const { body } = await call<WireRun & { result: unknown }>(
    'GET',
    `/v1/runs/${made.body.id}?wait=60s`,
  )
  return body.result
}

test('a command gets the input of its run in variables, whatever it contains', async (t) => {
  const api = await openApi(t)
  await api.startWorker({ processes: {} })
  const body = {
    input: { words: { type: 'string' }, count: { type: 'integer', default: 3 } },
    env: { COUNT: '${{ input.count }}' },
    run: `printf '{"words":"%s","count":%s}' "\${{ input.words }}" "$COUNT" > "$PUNCTUAL_OUTPUT"`,
  }
  const made = await api.call('PUT', '/v1/jobs/show', { body })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  assert.deepEqual(await resultOf(api, { words: '; $(touch /tmp/hacked) `id`' }), {
    words: '; $(touch /tmp/hacked) `id`',
    count: 3,
  })
})

test("an input that does not match the job's parameters is refused before a run is created", async (t) => {
  const api = await openApi(t)
  const body = { input: { count: { type: 'integer' } }, run: 'true' }
  await api.call('PUT', '/v1/jobs/show', { body })
  const missing = (await resultOf(api)) as Record<string, unknown>
  assert.deepEqual([missing['code'], missing['field']], ['missing_field', 'input.count'])
  const wrong = (await resultOf(api, { count: '3' })) as Record<string, unknown>
  assert.deepEqual([wrong['code'], wrong['field']], ['invalid_field', 'input.count'])
})

test("a run for a due time has it in the schedule's zone", async (t) => {
  const { call } = await openApi(t)
  const at = '${{ run.scheduled_at }}'
  const body = {
    input: { at: { type: 'string', default: at }, day: { type: 'string', default: DAY } },
    concurrency: { limit: 1, key: 'day-${{ input.day }}' },
    schedule: { name: 'nightly', cron: '30 0 * * *', zone: 'Pacific/Auckland' },
    run: 'true',
  }
  assert.equal((await call('PUT', '/v1/jobs/show', { body })).status, 201)
  const range = { from: '2026-01-01T00:00:00Z', until: '2026-01-02T00:00:00Z' }
  await call('POST', '/v1/jobs/show/schedules/nightly/backfill', { body: range })
  const run = await waitFor(
    async () => (await call<{ data: WireRun[] }>('GET', '/v1/runs')).body.data[0],
    { what: 'the run of a past time', deadlineMs: 60_000 },
  )
  const { body: shown } = await call<{ input: unknown }>('GET', `/v1/runs/${run.id}`)
  assert.deepEqual(shown.input, { at: '2026-01-02T00:30:00+13:00', day: '2026-01-02' })
})

const DAY = '${{ run.scheduled_at.date }}'
