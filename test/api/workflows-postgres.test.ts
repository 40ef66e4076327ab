import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WireStep } from '../../src/core/workflow/views/step-views.ts'
import type { SubmitAnswer } from '../../src/core/wire/protocol.ts'
import type { WirePage, WireWhy } from '../../src/core/wire/views.ts'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { postgresUrl } from '../support/servers.ts'
import { waitFor } from '../support/wait-for.ts'
import { openApi } from './open-api.ts'

const STEPS = {
  parts: { task: 'part', each: [1, 2, 3], with: '${{ item }}' },
  ask: { needs: 'parts', when: 'all-done', approve: {} },
  total: { task: 'count', needs: ['parts', 'ask'], with: '${{ steps.parts.output }}' },
}

test('on PostgreSQL workflows are shown, decided about and retried as on SQLite', async (t) => {
  const { call, startWorker } = await openApi(t, { store: await postgresUrl() })
  let isBroken = true
  await startWorker({
    handlers: {
      part(part) {
        if (part === 2 && isBroken) throw new Error('it is broken')
        return part
      },
      count: (parts) => (parts as unknown[]).length,
    },
  })
  await call('PUT', '/v1/jobs/etl', { body: { steps: STEPS } })
  const submit = async (path: string, body: object) => {
    const answer = await call<SubmitAnswer>('POST', path, { body })
    assert.equal(answer.status, 201, JSON.stringify(answer.body))
    return answer.body.id
  }
  const shown = async (id: string) => {
    const { body } = await call<WirePage<WireStep>>('GET', `/v1/runs/${id}/steps`)
    return body.data
  }
  const states = async (id: string) => (await shown(id)).map(({ state }) => state).join(' ')
  const answered = async (id: string, verb: string, before: string) => {
    await waitFor(async () => (await states(id)) === before, { what: `${id} to be ${before}` })
    const done = await call('POST', `/v1/runs/${id}/steps/ask/${verb}`)
    assert.equal(done.status, 200, JSON.stringify(done.body))
    return waitFor(
      async () => {
        const { body } = await call<WireRun>('GET', `/v1/runs/${id}?wait=5s`)
        return body.finished_at === null ? undefined : body
      },
      { what: `${id} to end` },
    )
  }

  const id = await submit('/v1/jobs/etl/runs', {})
  const next = await submit('/v1/jobs/etl/runs', {})
  const after = await submit('/v1/runs', { job: 'part', after: [{ run: id, on: 'notok' }] })
  const whyOf = async (run: string) => (await call<WireWhy>('GET', `/v1/runs/${run}/why`)).body.code
  await waitFor(async () => (await whyOf(id)) === 'approval', { what: 'the workflow to ask' })
  assert.deepEqual([await whyOf(next), await whyOf(after)], ['wave', 'after'])

  // The next wave begins as soon as this one ends.
  isBroken = false
  const failed = await answered(id, 'approve', 'failed waiting skipped')
  assert.equal(failed.state, 'failed')
  assert.equal(await states(id), 'failed succeeded skipped')
  assert.deepEqual([failed.workflow?.wave, failed.workflow?.steps.failed], [1, 1])
  assert.equal((await shown(id))[0]?.items?.failed[0]?.run?.message, 'it is broken')
  await waitFor(
    async () => (await call<WireRun>('GET', `/v1/runs/${after}`)).body.state === 'succeeded',
    { what: 'the run that waited for a failure' },
  )
  assert.equal((await answered(next, 'approve', 'succeeded waiting untouched')).workflow?.wave, 2)

  const again = await submit(`/v1/runs/${id}/retry`, { only: 'failed' })
  const over = await answered(again, 'approve', 'succeeded waiting untouched')
  assert.deepEqual([over.state, over.retry_of, over.workflow?.wave], ['succeeded', id, 1])
  assert.equal((await shown(again))[2]?.output, 3)
  const lately = await call<WirePage<{ statistics: object }>>('GET', '/v1/jobs/etl/steps')
  const [parts] = lately.body.data.map(({ statistics }) => statistics as { runs: number })
  assert.equal(parts?.runs, 3 + 3 + 1, 'only what was broken ran again')
})
