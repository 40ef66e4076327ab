import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from '../../src/client/index.ts'
import { openApi, ROOT_TOKEN } from './open-api.ts'

test('the client creates, pauses, skips, runs, reads and deletes schedules', async (t) => {
  const { url, call } = await openApi(t)
  await call('PUT', '/v1/jobs/etl', { body: { run: 'true' } })
  const client = connect({ url, token: ROOT_TOKEN })
  t.after(() => client.close())
  const { schedules } = client
  const daily = { every: 'weekdays at 09:05', zone: 'Europe/Athens', input: { a: 1 } }
  const made = await schedules.put('etl', 'daily', daily)
  assert.deepEqual([made.version, made.words], [1, 'weekdays at 09:05, Europe/Athens'])
  assert.equal((await schedules.put('etl', 'daily', daily)).version, 1)
  assert.deepEqual(await schedules.get('etl', 'daily'), made)
  assert.deepEqual((await schedules.list({ job: 'etl', state: 'active' })).data, [made])

  const until = '2099-01-01T00:00:00Z'
  assert.equal((await schedules.pause('etl', 'daily', { until })).state, 'paused')
  assert.equal((await schedules.why('etl', 'daily')).code, 'paused')
  assert.equal((await schedules.resume('etl', 'daily')).state, 'active')
  assert.equal((await schedules.skip('etl', 'daily')).skipping, made.next)
  const run = await schedules.run('etl', 'daily', 'key')
  assert.deepEqual(await schedules.run('etl', 'daily', 'key'), { id: run.id, created: false })
  assert.deepEqual((await client.getRun(run.id)).input, { a: 1 })

  const [next] = await schedules.next({ job: 'etl', limit: 1 })
  assert.deepEqual([next?.schedule, String(next?.at) > String(made.next)], ['daily', true])
  const planned = await schedules.occurrences('etl', 'daily', { until, limit: 2 })
  assert.deepEqual(
    planned.data.map(({ outcome, reason }) => `${outcome} ${reason}`),
    ['planned asked', 'planned null'],
  )
  assert.equal((await schedules.preview({ every: '5m' }, 3)).next.length, 3)
  assert.equal((await schedules.forecast({ days: 3, job: 'etl' })).schedules[0]?.job, 'etl')
  assert.deepEqual((await schedules.away()).schedules, [])
  await schedules.delete('etl', 'daily')
  await assert.rejects(schedules.get('etl', 'daily'), { code: 'schedule_not_found' })
  await assert.rejects(schedules.put('etl', 'x', { cron: '61 * * * *' }), {
    code: 'invalid_schedule',
    field: 'cron',
  })
})
