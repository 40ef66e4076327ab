import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WireStep } from '../../src/core/workflow/views/step-views.ts'
import type { WirePage, WireWhy } from '../../src/core/wire/views.ts'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { waitFor } from '../support/wait-for.ts'
import { openApi, type OpenApi } from './open-api.ts'

/** More than the number of keys other objects may have, and more than the bytes other bodies may have. */
const MANY = 17_000
const FEW = 2_000

/** One step, then the others in parallel, then one that needs them all. */
function fanOutAndIn(count: number) {
  const sides = Array.from({ length: count - 2 }, (_, index) => `side-${index}`)
  const description = 'x'.repeat(40)
  return {
    first: { task: 'noop' },
    ...Object.fromEntries(
      sides.map((name) => [name, { task: 'noop', needs: 'first', description }]),
    ),
    last: { task: 'noop', needs: sides },
  }
}

async function runOf({ call }: OpenApi, steps: object): Promise<string> {
  const made = await call('PUT', '/v1/jobs/large', { body: { steps } })
  assert.equal(made.status, 201, JSON.stringify(made.body).slice(0, 500))
  return (await call<{ id: string }>('POST', '/v1/jobs/large/runs', { body: {} })).body.id
}

test('a definition of very many steps is accepted over HTTP and shown unchanged', async (t) => {
  const { call } = await openApi(t)
  const steps = fanOutAndIn(MANY)
  assert.ok(JSON.stringify(steps).length > 1024 * 1024)
  const made = await call<{ definition: object }>('PUT', '/v1/jobs/large', { body: { steps } })
  assert.equal(made.status, 201, JSON.stringify(made.body).slice(0, 500))
  assert.deepEqual(made.body.definition, { steps })
  const again = await call('PUT', '/v1/jobs/large', { body: { steps } })
  assert.deepEqual([again.status, again.body['version']], [200, 1])
  const { body: record } = await call<WirePage<{ detail: unknown }>>('GET', '/v1/audit?limit=1')
  const bytes = Buffer.byteLength(JSON.stringify({ steps }))
  assert.deepEqual(record.data[0]?.detail, { definition_bytes: bytes })
})

test('more steps than allowed are refused with that reason, listed or named', async (t) => {
  const { call } = await openApi(t)
  const list = Array.from({ length: 100_001 }, () => ({}))
  const map = Object.fromEntries(list.map((step, index) => [index, step]))
  for (const steps of [list, map]) {
    const { status, body } = await call('PUT', '/v1/jobs/large', { body: { steps } })
    assert.deepEqual([status, body['code'], body['field']], [413, 'too_many_steps', 'steps'])
  }
})

test('steps of a large workflow are shown in pages, for any page and state', async (t) => {
  const api = await openApi(t)
  const { call } = api
  const id = await runOf(api, fanOutAndIn(FEW))
  const page = async (query: string) =>
    (await call<WirePage<WireStep>>('GET', `/v1/runs/${id}/steps?${query}`)).body
  const namesOf = ({ data }: WirePage<WireStep>) => data.map(({ name }) => name)
  await waitFor(async () => (await page('state=running')).data.length === 1, {
    what: 'the first step',
  })

  const first = await page('limit=2')
  assert.deepEqual(namesOf(first), ['first', 'side-0'])
  const second = await page(`limit=2&cursor=${first.next_cursor}`)
  assert.deepEqual(namesOf(second), ['side-1', 'side-2'])
  assert.equal(second.data[0]?.sentence, 'It waits for first.')
  assert.equal(second.data[0]?.critical, null)
  assert.deepEqual(namesOf(await page('state=untouched&limit=2')), ['side-0', 'side-1'])
  assert.deepEqual(await page('state=failed'), { data: [], next_cursor: null })
  const { body: last } = await call<WireStep>('GET', `/v1/runs/${id}/steps/last`)
  assert.equal(last.sentence, `It waits for side-0, side-1, side-2 and ${FEW - 5} more.`)

  const { body: why } = await call<WireWhy>('GET', `/v1/runs/${id}/why`)
  assert.match(why.sentence, /^It has been running for \S+: first has waited \S+: no worker is/)
  await api.startWorker({ slots: 500, handlers: { noop: () => {} } })
  const { body: run } = await call<WireRun>('GET', `/v1/runs/${id}?wait=25s`)
  assert.equal(run.state, 'succeeded')
  assert.deepEqual(run.workflow?.steps.succeeded, FEW)
  assert.deepEqual(namesOf(await page('state=untouched&limit=2')), [])
  const all: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const some = await page(`state=succeeded&limit=500${cursor && `&cursor=${cursor}`}`)
    all.push(...namesOf(some))
    cursor = some.next_cursor
  }
  assert.deepEqual(all, Object.keys(fanOutAndIn(FEW)))
})

test('the answer to why a step far down a large workflow was skipped names the nearest cause', async (t) => {
  const api = await openApi(t)
  await api.startWorker({
    handlers: {
      noop() {
        throw new Error('no')
      },
    },
  })
  const id = await runOf(
    api,
    Array.from({ length: FEW }, () => ({ task: 'noop', retry: { max: 0 } })),
  )
  await api.call('GET', `/v1/runs/${id}?wait=25s`)
  const sentenceOf = async (step: number) =>
    (await api.call<WireStep>('GET', `/v1/runs/${id}/steps/step-${step}`)).body.sentence
  assert.equal(
    await sentenceOf(3),
    'All steps it needs must succeed, and step-2 was skipped, because step-1 failed.',
  )
  assert.equal(
    await sentenceOf(1_999),
    'All steps it needs must succeed, and step-1998 was skipped.',
  )
})
