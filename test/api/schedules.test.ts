import assert from 'node:assert/strict'
import { test } from 'node:test'
import type {
  WireAway,
  WireNext,
  WireOccurrence,
  WirePreview,
  WireSchedule,
  WireScheduleWhy,
} from '../../src/core/schedule/definition/schedule-views.ts'
import type { WirePage, WireWhy } from '../../src/core/wire/views.ts'
import type { WireJob } from '../../src/core/job/job-views.ts'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { waitFor } from '../support/wait-for.ts'
import { type OpenApi, openApi } from './open-api.ts'

const NIGHTLY = { every: 'weekdays at 02:00', zone: 'Europe/Athens' }
const AT = '/v1/jobs/etl/schedules'

async function openWithJob(t: Parameters<typeof openApi>[0], schedule?: unknown): Promise<OpenApi> {
  const api = await openApi(t)
  const body = { run: 'true', ...(schedule === undefined ? {} : { schedule }) }
  const { status } = await api.call('PUT', '/v1/jobs/etl', { body })
  assert.equal(status, 201)
  return api
}

test('a job has its schedules, and shows them in words with the next time', async (t) => {
  const { call } = await openWithJob(t, [
    NIGHTLY,
    { name: 'full', cron: '0 4 * * 0', zone: 'UTC', input: { full: true } },
  ])
  const { body } = await call<WireJob>('GET', '/v1/jobs/etl')
  const [nightly, full] = body.schedules as [WireSchedule, WireSchedule]
  assert.deepEqual([nightly.name, full.name], ['1', 'full'])
  assert.deepEqual(
    [nightly.words, full.words],
    ['weekdays at 02:00, Europe/Athens', 'Sundays at 04:00, UTC'],
  )
  assert.match(String(full.next), /T04:00:00\.000Z$/)
  assert.deepEqual([nightly.state, nightly.version, nightly.declared], ['active', 1, true])
  assert.deepEqual(full.definition, {
    cron: '0 4 * * 0',
    zone: 'UTC',
    dst: { gap: 'run-after', repeat: 'first' },
    overlap: 'queue(1)',
    missed: 'latest',
    input: { full: true },
  })
})

test('the schedules in a definition are applied: added, changed, removed, and kept unchanged', async (t) => {
  const { call } = await openWithJob(t, [NIGHTLY, { name: 'b', every: '1h' }])
  await call('PUT', `${AT}/own`, { body: { every: '1d' } })
  const put = async (schedule: unknown) => {
    const { body } = await call<WireJob>('PUT', '/v1/jobs/etl', { body: { run: 'a', schedule } })
    return (body.schedules ?? []).map(({ name, version, words }) => `${name} v${version} ${words}`)
  }
  const nightly = '1 v1 weekdays at 02:00, Europe/Athens'
  assert.deepEqual(await put([NIGHTLY, { name: 'b', every: '2h' }]), [
    nightly,
    'b v2 every 2h',
    'own v1 every 1d',
  ])
  assert.deepEqual((await put([NIGHTLY, { name: 'c', every: '3h' }])).toSorted(), [
    nightly,
    'c v1 every 3h',
    'own v1 every 1d',
  ])
  assert.deepEqual(await put(NIGHTLY), [nightly, 'own v1 every 1d'])
  // A definition without schedules removes them, except those created separately.
  assert.deepEqual(await put(undefined), ['own v1 every 1d'])
})

test('a past instant may stay in a definition, but not be added to one', async (t) => {
  const { call } = await openWithJob(t)
  const soon = new Date(Date.now() + 1_500).toISOString()
  const body = { run: 'true', schedule: { at: soon } }
  assert.equal((await call('PUT', '/v1/jobs/etl', { body })).status, 200)
  await waitFor(
    async () => {
      const shown = await call<WireSchedule>('GET', `${AT}/1`)
      return shown.body.state === 'ended'
    },
    { what: 'its only time to be over' },
  )
  assert.equal((await call('PUT', '/v1/jobs/etl', { body: { ...body, owner: 'me' } })).status, 200)
  const late = await call('PUT', '/v1/jobs/etl', {
    body: { run: 'true', schedule: { at: '2020-01-01T00:00:00Z' } },
  })
  assert.deepEqual([late.status, late.body['field']], [422, 'schedule.at'])
})

test('a schedule is created, shown, changed only from its current version, and deleted', async (t) => {
  const { call } = await openWithJob(t)
  const nobody = await call('PUT', '/v1/jobs/nobody/schedules/x', { body: { every: '5m' } })
  assert.deepEqual([nobody.status, nobody.body['code']], [404, 'job_not_found'])
  const made = await call<WireSchedule>('PUT', `${AT}/x`, { body: { every: '5m' } })
  assert.deepEqual([made.status, made.body.version, made.body.declared], [201, 1, false])
  assert.equal(made.headers.get('etag'), '"1"')
  const again = await call<WireSchedule>('PUT', `${AT}/x`, { body: made.body.definition })
  assert.deepEqual([again.status, again.body.version], [200, 1], 'what it shows reads as the same')
  const headers = { 'if-match': '"1"' }
  const body = { every: '10m' }
  assert.equal((await call<WireSchedule>('PUT', `${AT}/x`, { body, headers })).body.version, 2)
  const late = await call('PUT', `${AT}/x`, { body: { every: '1m' }, headers })
  assert.deepEqual([late.status, late.body['code']], [412, 'version_conflict'])
  const stale = await call('DELETE', `${AT}/x`, { headers })
  assert.deepEqual([stale.status, stale.body['code']], [412, 'version_conflict'])
  const seen = { headers: { 'if-match': '"2"' } }
  assert.equal((await call('DELETE', `${AT}/x`, seen)).status, 204)
  assert.equal((await call('DELETE', `${AT}/x`, seen)).body['code'], 'schedule_not_found')
  assert.equal((await call('GET', `${AT}/x`)).body['code'], 'schedule_not_found')
})

test('schedules of a project are listed page by page, by job or state', async (t) => {
  const { call } = await openWithJob(
    t,
    [1, 2, 3].map((n) => ({ every: `${n}h` })),
  )
  await call('PUT', '/v1/jobs/other', { body: { run: 'true', schedule: { every: '1d' } } })
  await call('POST', `${AT}/2/pause`, { body: {} })
  const list = async (query: string) => {
    const { body } = await call<WirePage<WireSchedule>>('GET', `/v1/schedules?${query}`)
    return { names: body.data.map(({ job, name }) => `${job}/${name}`), next: body.next_cursor }
  }
  assert.deepEqual((await list('')).names, ['etl/1', 'etl/2', 'etl/3', 'other/1'])
  assert.deepEqual((await list('job=other')).names, ['other/1'])
  assert.deepEqual((await list('state=paused')).names, ['etl/2'])
  assert.deepEqual((await list('job=nobody')).names, [])
  const first = await list('limit=3')
  assert.deepEqual((await list(`limit=3&cursor=${first.next}`)).names, ['other/1'])
})

test('a schedule is paused, resumed, skipped and run by hand, and says why it does not fire', async (t) => {
  const { call } = await openWithJob(t, { ...NIGHTLY, name: 'n', input: 7 })
  const post = <T = WireSchedule>(verb: string, body?: object) =>
    call<T>('POST', `${AT}/n/${verb}`, body ? { body } : {})
  const why = async () => (await call<WireScheduleWhy>('GET', `${AT}/n/why`)).body
  assert.match((await why()).sentence, /^It fires next in .*: weekdays at 02:00, Europe\/Athens\.$/)
  const until = '2099-01-01T00:00:00Z'
  const paused = await post('pause', { until, reason: 'moving house' })
  assert.deepEqual(
    [paused.body.state, paused.body.paused?.reason, paused.body.paused?.until],
    ['paused', 'moving house', '2099-01-01T00:00:00.000Z'],
  )
  assert.match(String(paused.body.next), /^2099-01-0[12]T00:00/)
  assert.deepEqual([(await why()).code, (await why()).fixes], ['paused', ['punctual resume etl/n']])
  assert.equal((await post('resume')).body.state, 'active')
  const past = await post<Record<string, unknown>>('pause', { until: '2020-01-01T00:00:00Z' })
  assert.deepEqual([past.status, past.body['field']], [422, 'until'])

  await call('POST', '/v1/jobs/etl/pause', { body: {} })
  assert.equal((await why()).code, 'job_paused')
  await call('POST', '/v1/jobs/etl/resume')

  const before = (await call<WireSchedule>('GET', `${AT}/n`)).body
  const skipped = (await post('skip')).body
  assert.equal(skipped.skipping, before.next)
  assert.ok(String(skipped.next) > String(before.next))
  assert.equal((await why()).code, 'skips_next')
  const run = await post<{ id: string }>('run')
  assert.equal(run.status, 201)
  const { body } = await call<WireRun>('GET', `/v1/runs/${run.body.id}`)
  assert.deepEqual([body.input, body.due_at], [7, null])
  assert.equal((await call<WireSchedule>('GET', `${AT}/n`)).body.version, skipped.version)
})

test('planned and actual times: fired, skipped, and upcoming', async (t) => {
  const api = await openWithJob(t, { every: '1s', overlap: 'allow', expect: { duration: '1h' } })
  const { call } = api
  await api.startWorker()
  const look = async (query = '') =>
    (await call<WirePage<WireOccurrence>>('GET', `${AT}/1/occurrences?${query}`)).body
  await waitFor(
    async () => {
      const { data } = await look()
      return data.filter(({ run_state }) => run_state === 'succeeded').length >= 2
    },
    { what: 'two of its runs to end' },
  )
  await call('POST', `${AT}/1/pause`, { body: { until: '2098-01-01T00:00:00Z' } })
  const { data } = await look('limit=500')
  const fired = data[0] as WireOccurrence
  assert.match(String(fired.run), /^run_/)
  assert.deepEqual(
    [fired.outcome, fired.reason, fired.slow, fired.overdue],
    ['fired', null, false, null],
  )
  assert.ok(Number(fired.late_ms) >= 0)
  const held = data.find(({ reason }) => reason === 'paused')
  assert.ok(held && (held.outcome === 'due' || held.outcome === 'planned'), JSON.stringify(held))
  const times = data.map(({ nominal_at }) => Date.parse(nominal_at))
  assert.deepEqual(
    times,
    times.map((_, i) => Number(times[0]) + i * 1_000),
    'every time is there, once',
  )

  const far = 'from=2097-12-31T23:59:58Z&until=2098-01-01T00:00:02Z'
  const planned = (await look(far)).data.map(({ outcome, reason }) => `${outcome} ${reason}`)
  assert.deepEqual(planned, [
    'planned paused',
    'planned paused',
    'planned paused',
    'planned null',
    'planned null',
  ])
  const first = await look(`${far}&limit=2`)
  const rest = await look(`${far}&limit=3&cursor=${first.next_cursor}`)
  assert.deepEqual([first.data.length, rest.data.length, rest.next_cursor], [2, 3, null])
  assert.equal(rest.data[0]?.nominal_at, '2098-01-01T00:00:00.000Z')
})

test('a rule is previewed without being stored, including the effect of clock changes', async (t) => {
  const { call } = await openApi(t)
  const preview = async (body: object) =>
    (await call<WirePreview>('POST', '/v1/schedules/preview', { body })).body
  const night = await preview({ cron: '30 2 * * *', zone: 'Europe/Berlin', count: 3 })
  assert.equal(night.words, 'every day at 02:30, Europe/Berlin')
  assert.equal(night.next.length, 3)
  assert.match(String(night.next[0]?.local), /T02:30:00\+0[12]:00$/)
  const effects = (shown: WirePreview) => shown.clock_changes.map(({ effect }) => effect).toSorted()
  assert.deepEqual(effects(night), ['moved', 'once'])
  const moved = night.clock_changes.find(({ effect }) => effect === 'moved')
  assert.match(String(moved?.sentence), /^on \d{4}-03-\d\d clocks go from 02:00 to 03:00: /)
  assert.match(String(moved?.fires[0]?.local), /T03:00:00\+02:00$/)
  const dst = { gap: 'skip', repeat: 'both' }
  const other = await preview({ cron: '30 2 * * *', zone: 'Europe/Berlin', dst })
  assert.deepEqual(effects(other), ['left_out', 'twice'])
  assert.deepEqual(other.clock_changes.find(({ effect }) => effect === 'twice')?.fires.length, 2)
  assert.deepEqual(effects(await preview({ cron: '* * * * *', zone: 'Europe/Berlin' })), [
    'none',
    'none',
  ])
  assert.deepEqual((await preview({ every: '5m', zone: 'UTC' })).clock_changes, [])
  assert.equal((await preview({ every: '5m after finish' })).next.length, 1)
  assert.deepEqual((await call('GET', '/v1/schedules')).body['data'], [])
})

test('upcoming times are listed for all jobs, or for one', async (t) => {
  const { call } = await openWithJob(t, [{ every: '1h' }, { at: '2099-06-01T09:00:00Z' }])
  await call('PUT', '/v1/jobs/b', { body: { run: 'true', schedule: { every: '1h' } } })
  const next = async (query: string) =>
    (await call<{ data: WireNext[] }>('GET', `/v1/schedules/next?${query}`)).body.data
  const all = await next('limit=4')
  assert.deepEqual(all.map(({ job }) => job).toSorted(), ['b', 'b', 'etl', 'etl'])
  assert.equal(all[0]?.at, all[1]?.at)
  assert.deepEqual(
    (await next('job=b')).map(({ job, words }) => `${job} ${words}`),
    Array<string>(5).fill('b every 1h'),
  )
})

test('the catch-up list has every time that did not simply fire', async (t) => {
  const { call } = await openWithJob(t, { every: '1s', overlap: 'allow' })
  const away = async (query = '') => (await call<WireAway>('GET', `/v1/away${query}`)).body
  assert.deepEqual((await away()).schedules, [])
  await call('POST', `${AT}/1/skip`)
  const summary = await waitFor(
    async () => {
      const [one] = (await away()).schedules
      return one && one.skipped > 0 ? one : undefined
    },
    { what: 'a time to be skipped' },
  )
  assert.deepEqual(
    [summary.job, summary.name, summary.skipped, summary.reasons.asked],
    ['etl', '1', 1, 1],
  )
  assert.deepEqual((await away('?since=2099-01-01T00:00:00Z')).schedules, [])
  await call('DELETE', `${AT}/1`)
  assert.equal((await away()).schedules[0]?.job, null)
})

test('a run names its schedule and due time, and what it waits for', async (t) => {
  const { call } = await openWithJob(t, { every: '1s', name: 'often' })
  const [first, second] = await waitFor(
    async () => {
      const { body } = await call<WirePage<WireOccurrence>>('GET', `${AT}/often/occurrences`)
      const made = body.data.flatMap(({ run, nominal_at }) => (run ? [{ run, nominal_at }] : []))
      return made.length >= 2 ? made : undefined
    },
    { what: 'two times to become runs' },
  )
  const why = async (id: string | undefined) =>
    (await call<WireWhy>('GET', `/v1/runs/${id}/why`)).body
  const ready = await why(first?.run)
  assert.equal(ready.code, 'no_worker')
  assert.deepEqual(ready.details, [`It is the run of etl/often for ${first?.nominal_at}.`])
  const waiting = await why(second?.run)
  assert.equal(waiting.code, 'overlap')
  const sentence = `for ${first?.run} to end: runs of etl/often do not overlap.`
  assert.ok(waiting.sentence.endsWith(sentence), waiting.sentence)
  await call('DELETE', `${AT}/often`)
  assert.match(String((await why(first?.run)).details[0]), /^It is the run of sch_\w{11} for /)
})
