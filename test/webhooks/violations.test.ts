import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { WireOccurrence } from '../../src/core/schedule/definition/schedule-views.ts'
import type { WirePage, WireWhy } from '../../src/core/wire/views.ts'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { openApi } from '../api/open-api.ts'
import { waitFor } from '../support/wait-for.ts'
import { openReceiver, type Received } from './receiver.ts'

const VIOLATIONS = ['run.late', 'run.slow', 'run.unfinished', 'run.empty']

/** A server, an endpoint for expectation violations, and jobs whose only due time is about to come. */
async function openEnvironment(t: TestContext, options: object = {}) {
  const receiver = await openReceiver(t)
  const api = await openApi(t, { allowAddresses: [receiver.address] })
  const webhook = { name: 'pager', url: receiver.url, events: VIOLATIONS, ...options }
  assert.equal((await api.call('POST', '/v1/webhooks', { body: webhook })).status, 201)
  return {
    ...api,
    receiver,
    async put(job: string, run: string, { schedule = {}, ...more }: Record<string, object>) {
      // On a machine so slow that the time has passed before it is stored, another one is used.
      for (let aheadMs = 1_000; ; aheadMs *= 2) {
        const at = new Date(Date.now() + aheadMs).toISOString()
        const body = { run, schedule: { ...schedule, at }, ...more }
        const { status, body: answer } = await api.call('PUT', `/v1/jobs/${job}`, { body })
        if (status === 201) return
        assert.equal(answer['field'], 'schedule.at', JSON.stringify(answer))
      }
    },
    async occurrence(job: string): Promise<WireOccurrence | undefined> {
      const path = `/v1/jobs/${job}/schedules/1/occurrences?from=2020-01-01T00:00:00Z`
      const { body } = await api.call<WirePage<WireOccurrence>>('GET', path)
      return body.data[0]
    },
  }
}

const summaries = (received: readonly Received[]) =>
  received.map(({ body }) => `${String(body.data['job'])} ${body.type}`)

test('a run that starts late, takes long and misses its deadline is reported while it runs', async (t) => {
  const { put, receiver, startWorker, occurrence, call } = await openEnvironment(t)
  const expect = { start: '500ms', duration: '600ms' }
  await put('etl', 'sleep 600', { schedule: { deadline: '2s', expect } })
  const late = await waitFor(() => receiver.received.find(({ body }) => body.type === 'run.late'), {
    what: 'a run without a worker to be late',
  })
  await startWorker()
  const all = await receiver.count(3)
  assert.deepEqual(summaries(all).toSorted(), [
    'etl run.late',
    'etl run.slow',
    'etl run.unfinished',
  ])
  const slow = all.find(({ body }) => body.type === 'run.slow')?.body.data
  assert.equal(slow?.run?.['state' as 'id'], 'running')
  assert.match(String(slow?.['message']), /^etl is slow: it should have ended by 20/)

  const shown = await occurrence('etl')
  const id = String(shown?.run)
  assert.equal(id, late.body.data.run?.id)
  assert.deepEqual(shown?.lapses.map(({ kind }) => kind).toSorted(), ['late', 'slow', 'unfinished'])
  const nominal = Date.parse(shown?.nominal_at ?? '')
  const lapse = shown?.lapses.find(({ kind }) => kind === 'unfinished')
  assert.equal(Date.parse(String(lapse?.due_at)), nominal + 2_000)
  assert.deepEqual([shown?.slow, shown?.overdue], [true, true])
  const why = (await call<WireWhy>('GET', `/v1/runs/${id}/why`)).body
  assert.ok(why.details.some((line) => line.startsWith('It should have ended by 20')))

  await call('POST', `/v1/runs/${id}/cancel`)
  await call<WireRun>('GET', `/v1/runs/${id}?wait=25s`)
  assert.equal(receiver.received.length, 3, 'no violation is reported twice')
})

test('a success without output is reported if the job asks for it; one with output is not', async (t) => {
  const { put, receiver, startWorker, occurrence } = await openEnvironment(t)
  await startWorker()
  const expect = { output: true, duration: '10m' }
  await put('talks', 'echo hello', { expect })
  await put('quiet', 'true', { expect })
  await put('allowed', 'true', { schedule: { expect: { start: '1h' } } })
  await receiver.count(1)
  const isOver = async (job: string) => (await occurrence(job))?.run_state === 'succeeded'
  await waitFor(async () => (await isOver('talks')) && (await isOver('allowed')), {
    what: 'the others to have ended',
  })
  assert.deepEqual(summaries(receiver.received), ['quiet run.empty'])
  assert.deepEqual((await occurrence('talks'))?.lapses, [])
  const [lapse] = (await occurrence('quiet'))?.lapses ?? []
  assert.equal(lapse?.kind, 'empty')
})

test('a webhook for one event or some jobs receives no others', async (t) => {
  const options = { events: ['run.unfinished'], jobs: ['a-*'] }
  const { put, receiver, occurrence } = await openEnvironment(t, options)
  const schedule = { deadline: '200ms', expect: { start: '100ms' } }
  await put('b', 'true', { schedule })
  await put('a-1', 'true', { schedule })
  await receiver.count(1)
  const kinds = async (job: string) => (await occurrence(job))?.lapses.map(({ kind }) => kind)
  await waitFor(async () => (await kinds('b'))?.length === 2, { what: 'both lapses of the other' })
  assert.deepEqual(await kinds('b'), ['late', 'unfinished'])
  assert.deepEqual(summaries(receiver.received), ['a-1 run.unfinished'])
})
