import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type {
  WireJobStep,
  WireStep,
  WireStepItem,
} from '../../src/core/workflow/views/step-views.ts'
import type { SubmitAnswer } from '../../src/core/wire/protocol.ts'
import type { WireAudit, WirePage } from '../../src/core/wire/views.ts'
import type { WireRun } from '../../src/core/wire/runs.ts'
import type { Handler } from '../../src/worker/index.ts'
import { waitFor } from '../support/wait-for.ts'
import { type OpenApi, openApi } from './open-api.ts'

/** Inputs for which the handlers below fail, until a test removes them. */
const WILL_FAIL = new Set<unknown>()

const handlers: Record<string, Handler> = {
  list: () => ({ parts: [1, 2, 3, 4] }),
  part: (part) => {
    if (WILL_FAIL.has(part)) throw new Error(`part ${String(part)} is broken`)
    return { done: part }
  },
  sum: (parts) => (parts as { done: number }[]).reduce((sum, { done }) => sum + done, 0),
}

const FAN_OUT = {
  list: { task: 'list' },
  parts: {
    task: 'part',
    needs: 'list',
    with: '${{ item }}',
    each: '${{ steps.list.output.parts }}',
  },
  total: { task: 'sum', needs: 'parts', with: '${{ steps.parts.output }}' },
}

async function open(t: TestContext, steps: object, more: object = {}) {
  WILL_FAIL.clear()
  const api = await openApi(t)
  await api.startWorker({ handlers })
  const put = await api.call('PUT', '/v1/jobs/etl', { body: { steps, ...more } })
  assert.equal(put.status, 201, JSON.stringify(put.body))
  const run = async (body: object = {}) => {
    const answer = await api.call<SubmitAnswer>('POST', '/v1/jobs/etl/runs', { body })
    assert.equal(answer.status, 201, JSON.stringify(answer.body))
    return answer.body.id
  }
  return { api, run, end: (id: string) => ended(api, id), steps: (id: string) => stepsOf(api, id) }
}

async function ended({ call }: OpenApi, id: string): Promise<WireRun> {
  return waitFor(
    async () => {
      const { body } = await call<WireRun>('GET', `/v1/runs/${id}?wait=5s`)
      return body.finished_at === null ? undefined : body
    },
    { what: `${id} to end`, deadlineMs: 60_000 },
  )
}

async function stepsOf({ call }: OpenApi, id: string): Promise<Map<string, WireStep>> {
  const { body } = await call<WirePage<WireStep>>('GET', `/v1/runs/${id}/steps`)
  return new Map(body.data.map((step) => [step.name, step]))
}

const states = (steps: Map<string, WireStep>) =>
  Object.fromEntries([...steps.values()].map(({ name, state }) => [name, state]))

test('the steps of a run are shown with their runs, times, outputs and the critical path', async (t) => {
  const { api, run, end, steps } = await open(t, FAN_OUT)
  const id = await run()
  const over = await end(id)
  assert.equal(over.state, 'succeeded', over.message ?? '')
  assert.deepEqual(over.workflow, {
    wave: 1,
    steps: {
      total: 3,
      untouched: 0,
      running: 0,
      waiting: 0,
      succeeded: 3,
      failed: 0,
      cancelled: 0,
      skipped: 0,
    },
  })
  const shown = await steps(id)
  assert.deepEqual([...shown.keys()], ['list', 'parts', 'total'])
  const { list, parts, total } = Object.fromEntries(shown) as Record<string, WireStep>
  assert.deepEqual(list?.output, { parts: [1, 2, 3, 4] })
  assert.equal(total?.output, 10)
  assert.deepEqual([parts?.needs, parts?.each, parts?.when], [['list'], true, 'all-succeeded'])
  assert.deepEqual([parts?.items?.counts.total, parts?.items?.counts.succeeded], [4, 4])
  assert.ok([...shown.values()].every(({ critical }) => critical))
  assert.ok((total?.started_at ?? '') >= (parts?.finished_at ?? 'z'))
  const { body: own } = await api.call<WireRun>('GET', `/v1/runs/${total?.run?.id}`)
  assert.deepEqual([own.job, own.step], ['etl/total', { run: id, name: 'total', item: null }])
  const items = await api.call<WirePage<WireStepItem>>('GET', `/v1/runs/${id}/steps/parts/items`)
  assert.deepEqual(
    items.body.data.map(({ item, state }) => [item, state]),
    [0, 1, 2, 3].map((item) => [item, 'succeeded']),
  )
})

test('pages of steps and items continue where the last one ended, and can be limited to one state', async (t) => {
  const { api, run, end } = await open(t, FAN_OUT)
  const id = await run()
  await end(id)
  const all = async (path: string) => {
    const names: unknown[] = []
    for (let cursor = ''; ;) {
      const page = await api.call<WirePage<WireStep & WireStepItem>>('GET', `${path}${cursor}`)
      names.push(...page.body.data.map(({ name, item }) => name ?? item))
      if (page.body.next_cursor === null) return names
      assert.equal(page.body.data.length, 1)
      cursor = `&cursor=${page.body.next_cursor}`
    }
  }
  const path = `/v1/runs/${id}/steps`
  assert.deepEqual(await all(`${path}?limit=1`), ['list', 'parts', 'total'])
  assert.deepEqual(await all(`${path}/parts/items?limit=1`), [0, 1, 2, 3])
  assert.deepEqual(await all(`${path}?state=failed`), [])
  assert.equal((await api.call('GET', `${path}?state=fine`)).status, 422)
  assert.equal((await api.call('GET', `${path}/nobody`)).body['code'], 'step_not_found')
  assert.deepEqual(await all(`${path}/total/items?limit=1`), [])
})

test('a retry of failed steps runs them and the steps that depend on them, and nothing else', async (t) => {
  const { api, run, end, steps } = await open(t, FAN_OUT)
  WILL_FAIL.add(2).add(4)
  const id = await run()
  assert.equal((await end(id)).state, 'failed')
  const before = await steps(id)
  assert.deepEqual(states(before), { list: 'succeeded', parts: 'failed', total: 'skipped' })
  assert.equal(before.get('total')?.sentence, 'All steps it needs must succeed, and parts failed.')
  assert.equal(before.get('parts')?.sentence, '2 of 4 items failed.')
  const failed = before.get('parts')?.items?.failed ?? []
  assert.deepEqual(
    failed.map(({ item, run: own }) => [item, own?.message]),
    [
      [1, 'part 2 is broken'],
      [3, 'part 4 is broken'],
    ],
  )
  WILL_FAIL.clear()
  const again = await api.call<SubmitAnswer>('POST', `/v1/runs/${id}/retry`, {
    body: { only: 'failed' },
  })
  assert.equal(again.status, 201, JSON.stringify(again.body))
  const over = await end(again.body.id)
  assert.deepEqual([over.state, over.retry_of, over.workflow?.wave], ['succeeded', id, 1])
  const after = await steps(again.body.id)
  assert.deepEqual([after.get('list')?.reused, after.get('total')?.reused], [true, false])
  assert.equal(after.get('total')?.output, 10)
  const path = `/v1/runs/${again.body.id}/steps/parts/items`
  const items = await api.call<WirePage<WireStepItem>>('GET', path)
  assert.deepEqual(
    items.body.data.map(({ reused }) => reused),
    [true, false, true, false],
  )
})

test('a retry can begin at a step; an unknown step is refused', async (t) => {
  const { api, run, end, steps } = await open(t, FAN_OUT)
  const id = await run()
  await end(id)
  const retry = (body: object, of = id) => api.call('POST', `/v1/runs/${of}/retry`, { body })
  const from = await retry({ from: 'total' })
  assert.equal((await end(String(from.body['id']))).state, 'succeeded')
  const shown = await steps(String(from.body['id']))
  assert.deepEqual(
    [...shown.values()].map(({ name, reused }) => [name, reused]),
    [
      ['list', true],
      ['parts', false],
      ['total', false],
    ],
    'a fan-out has no run of its own that could be reused, but its items have',
  )
  const unknown = await retry({ from: 'totl' })
  assert.deepEqual([unknown.status, unknown.body['field']], [404, 'from'])
  assert.match(String(unknown.body['detail']), /did you mean total\?/)
  const mixed = await retry({ only: 'failed', version: 1 })
  assert.deepEqual([mixed.status, mixed.body['field']], [422, 'version'])
  const total = shown.get('total')?.run?.id
  const plain = await retry({ only: 'failed' }, total)
  assert.deepEqual([plain.status, plain.body['field']], [422, 'only'])
})

test('a replay has another input or another version, and its parameters are checked', async (t) => {
  const input = { part: { type: 'integer' } }
  const one = { one: { task: 'part', with: '${{ input.part }}' } }
  const { api, run, end, steps } = await open(t, one, { input })
  const bad = await api.call('POST', '/v1/jobs/etl/runs', { body: { input: { part: 'x' } } })
  assert.deepEqual([bad.status, bad.body['field']], [422, 'input.part'])
  const id = await run({ input: { part: 1 }, tags: { by: 'ada' } })
  await end(id)
  const two = { two: { task: 'part', with: '${{ input.part }}' } }
  await api.call('PUT', '/v1/jobs/etl', { body: { steps: two, input } })
  const replay = async (body: object) => {
    const { body: answer } = await api.call('POST', `/v1/runs/${id}/retry`, { body })
    const over = await end(String(answer['id']))
    return { over, shown: [...(await steps(over.id)).values()] }
  }
  const other = await replay({ input: { part: 7 } })
  assert.deepEqual([other.over.retry_of, other.over.tags], [id, { by: 'ada' }])
  assert.deepEqual(
    other.shown.map(({ name, output }) => [name, output]),
    [['one', { done: 7 }]],
  )
  const newer = await replay({ version: 2 })
  assert.deepEqual(
    newer.shown.map(({ name, output }) => [name, output]),
    [['two', { done: 1 }]],
  )
  const wrong = await api.call('POST', `/v1/runs/${id}/retry`, { body: { input: { part: 'x' } } })
  assert.deepEqual([wrong.status, wrong.body['field']], [422, 'input.part'])
  const never = await api.call('POST', `/v1/runs/${id}/retry`, { body: { version: 9 } })
  assert.deepEqual([never.status, never.body['field']], [422, 'version'])
})

test('an approval waits for its approvers and continues with their answer', async (t) => {
  const { api, run, end, steps } = await open(t, {
    ask: {
      approve: {
        by: ['t2'],
        message: 'Publish?',
        timeout: '4h',
        input: { parts: { type: 'array' } },
      },
    },
    total: { task: 'sum', needs: 'ask', with: '${{ steps.ask.output.parts }}' },
  })
  const viewer = await api.token('viewer')
  const operator = await api.token('operator')
  const other = await api.token('operator')
  const id = await run()
  const waiting = await waitFor(
    async () => {
      const step = (await steps(id)).get('ask')
      return step?.state === 'waiting' ? step : undefined
    },
    { what: 'the step to ask' },
  )
  assert.equal(waiting.sentence, 'It waits for t2 to approve it: Publish?')
  assert.deepEqual(waiting.approval?.input, { parts: { type: 'array', required: true } })
  assert.ok((waiting.approval?.expires_at ?? '') > new Date().toISOString())
  const why = await api.call('GET', `/v1/runs/${id}/why`)
  assert.equal(why.body['code'], 'approval')
  assert.match(String(why.body['sentence']), /ask waits for t2 to approve it: Publish\?$/)

  const answer = (token: string, body: object, verb = 'approve') =>
    api.call('POST', `/v1/runs/${id}/steps/ask/${verb}`, { body, token })
  const input = { parts: [{ done: 5 }] }
  assert.equal((await answer(viewer, { input })).status, 403)
  assert.equal((await answer(other, { input })).body['code'], 'forbidden')
  assert.equal((await answer(operator, {})).body['field'], 'input.parts')
  const given = await answer(operator, { input, message: 'go' })
  assert.deepEqual([given.status, given.body['state']], [200, 'succeeded'])
  // By now the rest may have ended too.
  const again = await answer(operator, { input })
  assert.match(String(again.body['code']), /^(step_not_waiting|run_is_final)$/)
  assert.equal((await end(id)).state, 'succeeded')
  assert.equal((await steps(id)).get('total')?.output, 5)
  assert.equal((await answer(operator, { input })).body['code'], 'run_is_final')
  const audit = await api.call<WirePage<WireAudit>>('GET', '/v1/audit')
  const [entry] = audit.body.data.filter(({ action }) => action === 'step.approve')
  assert.deepEqual(
    [entry?.actor, entry?.target, entry?.detail],
    ['t2', id, { step: 'ask', message: 'go' }],
  )
})

test('a refused approval fails, and a skipped step counts as done', async (t) => {
  const { api, run, end, steps } = await open(
    t,
    { a: { approve: {} }, b: { approve: {} }, c: { task: 'list', needs: ['a', 'b'] } },
    { concurrency: 'none' },
  )
  const decide = async (id: string, step: string, verb: string) => {
    await waitFor(async () => (await steps(id)).get(step)?.state === 'waiting', {
      what: `${step} to wait`,
    })
    const done = await api.call('POST', `/v1/runs/${id}/steps/${step}/${verb}`)
    assert.equal(done.status, 200, JSON.stringify(done.body))
    return done.body
  }
  const refused = await run()
  const no = await decide(refused, 'a', 'refuse')
  assert.deepEqual([no['state'], no['reason']], ['failed', 'refused'])
  await decide(refused, 'b', 'approve')
  assert.equal((await end(refused)).state, 'failed')
  const skipped = await run()
  const skippedStep = await decide(skipped, 'a', 'skip')
  assert.deepEqual(
    [skippedStep['state'], skippedStep['sentence']],
    ['skipped', 'A user skipped it.'],
  )
  await decide(skipped, 'b', 'approve')
  assert.equal((await end(skipped)).state, 'succeeded')
  const late = await api.call('POST', `/v1/runs/${skipped}/steps/c/skip`, { body: {} })
  assert.equal(late.body['code'], 'run_is_final')
})

test('a cancelled workflow stops its steps, and its retry runs them', async (t) => {
  const { api, run, end, steps } = await open(t, {
    first: { task: 'list' },
    ask: { needs: 'first', approve: {} },
    last: { task: 'list', needs: 'ask' },
  })
  const id = await run()
  await waitFor(async () => (await steps(id)).get('ask')?.state === 'waiting', { what: 'a step' })
  const cancelAnswer = await api.call('POST', `/v1/runs/${id}/cancel`)
  assert.deepEqual(cancelAnswer.body, { id, state: 'cancelling' })
  assert.equal((await end(id)).state, 'cancelled')
  const shown = await steps(id)
  assert.deepEqual(states(shown), { first: 'succeeded', ask: 'cancelled', last: 'skipped' })
  assert.equal(shown.get('last')?.sentence, 'The workflow was cancelled before it could start.')
  const body = { only: 'failed', skip: 'ask' }
  const again = await api.call<SubmitAnswer>('POST', `/v1/runs/${id}/retry`, { body })
  const over = await end(again.body.id)
  assert.equal(over.state, 'succeeded')
  const after = await steps(over.id)
  assert.deepEqual(states(after), { first: 'succeeded', ask: 'skipped', last: 'succeeded' })
  assert.equal(after.get('first')?.reused, true)
})

test('the steps of a job are shown as defined, with their recent outcomes', async (t) => {
  const { api, run, end } = await open(t, FAN_OUT)
  await end(await run())
  const { body } = await api.call<WirePage<WireJobStep>>('GET', '/v1/jobs/etl/steps?limit=2')
  assert.deepEqual(
    body.data.map(({ name, needs, statistics }) => [name, needs, statistics.succeeded]),
    [
      ['list', [], 1],
      ['parts', ['list'], 4],
    ],
  )
  const rest = `/v1/jobs/etl/steps?cursor=${body.next_cursor}`
  const last = await api.call<WirePage<WireJobStep>>('GET', rest)
  assert.deepEqual(
    [last.body.data.map(({ name }) => name), last.body.next_cursor],
    [['total'], null],
  )
  await api.call('PUT', '/v1/jobs/plain', { body: { run: 'true' } })
  const plain = await api.call<WirePage<WireJobStep>>('GET', '/v1/jobs/plain/steps')
  assert.deepEqual(plain.body.data, [])
  assert.equal((await api.call('GET', '/v1/jobs/nobody/steps')).status, 404)
})
