import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WireForecast } from '../../src/core/schedule/forecast/views.ts'
import type { WirePage } from '../../src/core/wire/views.ts'
import type { WireOccurrence } from '../../src/core/schedule/definition/schedule-views.ts'
import { waitFor } from '../support/wait-for.ts'
import { openApi } from './open-api.ts'

test('a forecast counts runs, finds times that coincide, and marks days with clock changes', async (t) => {
  const { call } = await openApi(t)
  const put = (job: string, ...schedule: object[]) =>
    call('PUT', `/v1/jobs/${job}`, { body: { run: 'true', schedule } })
  await put(
    'etl',
    { name: 'n', cron: '30 2 * * *', zone: 'Europe/Berlin' },
    { name: 'm', cron: '0 9 * * *', zone: 'UTC' },
  )
  await put('mail', { name: 'm', every: 'daily at 09:00', zone: 'UTC' }, { name: 's', every: '1s' })
  await put('held', { name: 'h', every: '1h' })
  await call('POST', '/v1/jobs/held/schedules/h/pause', { body: {} })

  const year = (await call<WireForecast>('GET', '/v1/forecast?days=365')).body
  const fires = year.schedules.map(({ job, schedule, fires: count }) => [
    `${job}/${schedule}`,
    count,
  ])
  assert.deepEqual(Object.fromEntries(fires), {
    'mail/s': 31_536_000,
    'etl/n': 365,
    'etl/m': 365,
    'mail/m': 365,
    'held/h': 0,
  })
  assert.deepEqual(
    [year.fires, year.more, year.complete, year.bar_ms],
    [31_536_000 + 3 * 365, 0, true, 86_400_000],
  )
  assert.equal(
    year.bars.reduce((sum, bar) => sum + bar.fires, 0),
    year.fires,
  )
  const [first] = year.collisions
  assert.deepEqual([first?.schedules, first?.times], [3, 365])
  assert.deepEqual(first?.names.toSorted(), ['etl/m', 'mail/m', 'mail/s'])
  assert.match(first?.at ?? '', /T09:00:00\.000Z$/)
  assert.deepEqual(
    year.clock_changes.map(({ zone, moved, once }) => [zone, moved + once]),
    [
      ['Europe/Berlin', 1],
      ['Europe/Berlin', 1],
    ],
  )

  const day = (await call<WireForecast>('GET', '/v1/forecast?days=1&job=etl&limit=1')).body
  assert.deepEqual([day.fires, day.schedules.length, day.more, day.bar_ms], [2, 1, 1, 3_600_000])
  assert.ok(day.bars.length === 24 || day.bars.length === 25)
  assert.deepEqual((await call<WireForecast>('GET', '/v1/forecast?job=nobody')).body.schedules, [])
  for (const query of ['days=0', 'days=367', 'days=-1', 'days=x', 'hours=3']) {
    assert.ok((await call('GET', `/v1/forecast?${query}`)).status >= 400, query)
  }
})

test('the load is computed from recent runs', async (t) => {
  const api = await openApi(t)
  const { call } = api
  const schedule = { name: 's', every: '1s', overlap: 'allow' }
  await call('PUT', '/v1/jobs/nap', { body: { run: 'true', schedule } })
  const load = async () => (await call<WireForecast>('GET', '/v1/forecast?days=1')).body
  const before = await load()
  assert.equal(before.schedules[0]?.duration_ms, null)
  assert.equal(before.busiest[0]?.busy, 0)
  await api.startWorker()
  await waitFor(
    async () => {
      const path = '/v1/jobs/nap/schedules/s/occurrences'
      const { data } = (await call<WirePage<WireOccurrence>>('GET', path)).body
      return data.some(({ run_state }) => run_state === 'succeeded')
    },
    { what: 'one of its runs to end' },
  )
  const after = await load()
  assert.ok(Number(after.schedules[0]?.duration_ms) >= 0)
})
