import assert from 'node:assert/strict'
import { test } from 'node:test'
import type {
  WireAway,
  WireNext,
  WireOccurrence,
  WireSchedule,
} from '../../src/core/schedule/definition/schedule-views.ts'
import type { WirePage } from '../../src/core/wire/views.ts'
import type { WireJob } from '../../src/core/job/job-views.ts'
import { postgresUrl } from '../support/servers.ts'
import { waitFor } from '../support/wait-for.ts'
import { openApi } from './open-api.ts'

const EVER = 'from=1970-01-01T00:00:00Z&until=2999-01-01T00:00:00Z'

test('on PostgreSQL schedules are stored, listed, forecast and reported as on SQLite', async (t) => {
  const { call } = await openApi(t, { store: await postgresUrl() })
  const schedule = [
    { name: 'often', every: '1s', overlap: 'allow', zone: 'UTC' },
    { name: 'late', at: '2998-01-01T00:00:00Z' },
  ]
  const body = { run: 'true', schedule }
  const made = await call<WireJob>('PUT', '/v1/jobs/etl', { body })
  assert.equal(made.status, 201)
  const again = await call<WireJob>('PUT', '/v1/jobs/etl', { body })
  assert.deepEqual(
    again.body.schedules?.map(({ name, version }) => [name, version]),
    [
      ['often', 1],
      ['late', 1],
    ],
  )
  await call('POST', '/v1/jobs/etl/schedules/often/skip')
  const history = await waitFor(
    async () => {
      const path = `/v1/jobs/etl/schedules/often/occurrences?${EVER}&limit=4`
      const page = (await call<WirePage<WireOccurrence>>('GET', path)).body
      return page.data.every(({ outcome }) => outcome !== 'planned') ? page : undefined
    },
    { what: 'four times to have come' },
  )
  assert.equal(history.data.find(({ outcome }) => outcome === 'skipped')?.reason, 'asked')
  assert.ok(history.next_cursor)
  const { body: away } = await call<WireAway>('GET', '/v1/away')
  assert.deepEqual(
    away.schedules.map(({ name, skipped }) => [name, skipped]),
    [['often', 1]],
  )
  const list = await call<WirePage<WireSchedule>>('GET', '/v1/schedules?limit=1')
  assert.equal(list.body.data[0]?.state, 'active')
  const { body: next } = await call<{ data: WireNext[] }>('GET', '/v1/schedules/next?limit=2')
  assert.deepEqual(
    next.data.map(({ schedule: name }) => name),
    ['often', 'often'],
  )
  await call('PUT', '/v1/jobs/etl', { body: { run: 'true' } })
  assert.deepEqual((await call<WireJob>('GET', '/v1/jobs/etl')).body.schedules, [])
})

test('of several callers that define a job at once, one wins with its whole definition', async (t) => {
  const { call } = await openApi(t, { store: await postgresUrl() })
  const first = { run: 'true', schedule: { name: 'first', every: '1h' } }
  await call('PUT', '/v1/jobs/etl', { body: first })
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  const answers = await Promise.all(
    names.map((name) =>
      call('PUT', '/v1/jobs/etl', {
        body: { run: name, schedule: [1, 2, 3].map((n) => ({ name: name + n, every: '1h' })) },
      }),
    ),
  )
  assert.deepEqual(
    answers.map(({ status }) => status),
    names.map(() => 200),
  )
  const { body } = await call<WireJob>('GET', '/v1/jobs/etl')
  const { run } = body.definition
  assert.deepEqual(
    body.schedules?.map(({ name }) => name),
    [`${run}1`, `${run}2`, `${run}3`],
  )
})
