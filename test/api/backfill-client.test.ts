import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from '../../src/client/index.ts'
import { waitFor } from '../support/wait-for.ts'
import { openApi, ROOT_TOKEN } from './open-api.ts'

test('the client previews, starts, shows, lists and cancels a backfill', async (t) => {
  const { url, call } = await openApi(t)
  const schedule = { name: 'h', cron: '0 * * * *', zone: 'UTC' }
  await call('PUT', '/v1/jobs/etl', { body: { run: 'true', schedule } })
  const client = connect({ url, token: ROOT_TOKEN })
  t.after(() => client.close())
  const { backfills } = client
  const range = { from: '2026-01-01T00:00:00Z', until: '2026-01-01T05:00:00Z' }
  const plan = await backfills.plan('etl', 'h', range)
  assert.deepEqual([plan.times, plan.runs, plan.dry_run], [6, 6, true])
  assert.deepEqual((await backfills.list()).data, [])

  const started = await backfills.start('etl', 'h', { ...range, max_parallel: 2 })
  const made = await waitFor(
    async () => {
      const seen = await backfills.get(started.id)
      return seen.made === 2 ? seen : undefined
    },
    { what: 'as many runs as may be open' },
  )
  assert.deepEqual([made.state, made.open], ['running', 2], 'there is no worker to end them')
  assert.deepEqual((await backfills.list({ limit: 1 })).data, [made])
  assert.equal((await backfills.cancel(started.id)).state, 'cancelled')
  await assert.rejects(backfills.get('bkf_00000000000'), { code: 'backfill_not_found' })
  await assert.rejects(backfills.start('etl', 'nobody', range), { code: 'schedule_not_found' })
})
