import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { runProgram } from '../../src/cli/program.ts'
import type { WireBackfill, WireBackfillPlan } from '../../src/core/schedule/backfill/views.ts'
import type { WireOccurrence } from '../../src/core/schedule/definition/schedule-views.ts'
import type { WirePage, WireWhy } from '../../src/core/wire/views.ts'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { createFakeTerminal } from '../cli/fake-terminal.ts'
import { postgresUrl } from '../support/servers.ts'
import { waitFor } from '../support/wait-for.ts'
import { type OpenApi, openApi, ROOT_TOKEN } from './open-api.ts'

const AT = '/v1/jobs/etl/schedules/h'
const FROM = '2026-01-01T00:00:00Z'
const UNTIL = '2026-01-01T05:00:00Z'

async function openWithJob(
  t: TestContext,
  run = 'true',
  options: Parameters<typeof openApi>[1] = {},
) {
  const api = await openApi(t, options)
  const schedule = { name: 'h', cron: '0 * * * *', zone: 'UTC', input: { a: 1 } }
  await api.call('PUT', '/v1/jobs/etl', { body: { run, schedule, retry: { max: 0 } } })
  const start = (more: object = {}) =>
    api.call<WireBackfill>('POST', `${AT}/backfill`, {
      body: { from: FROM, until: UNTIL, ...more },
    })
  return { ...api, start }
}

async function untilOver({ call }: OpenApi, { id }: WireBackfill): Promise<WireBackfill> {
  return waitFor(
    async () => {
      const { body } = await call<WireBackfill>('GET', `/v1/backfills/${id}`)
      return body.state === 'running' ? undefined : body
    },
    { what: 'the backfill to be over' },
  )
}

const HOUR_MS = 3_600_000

/** The next due times of the schedule, from its history. */
async function nextTimes({ call }: OpenApi): Promise<string[]> {
  const [from, until] = [0, 3].map((hours) => new Date(Date.now() + hours * HOUR_MS).toISOString())
  const path = `${AT}/occurrences?from=${from}&until=${until}`
  const { data } = (await call<WirePage<WireOccurrence>>('GET', path)).body
  return data.filter(({ outcome }) => outcome === 'planned').map(({ nominal_at }) => nominal_at)
}

const runsOf = async ({ call }: OpenApi) =>
  (await call<WirePage<WireRun>>('GET', '/v1/runs?limit=500')).body.data

test('times without a run get one, once, in order and behind runs that are due now', async (t) => {
  const api = await openWithJob(t)
  const { body: plan } = await api.start({ dry_run: true, order: 'reverse' })
  const planned = plan as unknown as WireBackfillPlan
  assert.deepEqual([planned.times, planned.runs, planned.dry_run], [6, 6, true])
  assert.equal(planned.first[0], '2026-01-01T05:00:00.000Z')
  assert.deepEqual(await runsOf(api), [])

  await api.startWorker()
  const started = await api.start({ max_parallel: 2 })
  assert.equal(started.status, 201)
  const done = await untilOver(api, started.body)
  assert.deepEqual([done.state, done.made, done.passed, done.open], ['done', 6, 0, 0])
  const runs = await runsOf(api)
  assert.deepEqual(
    runs.map(({ due_at }) => due_at).toReversed(),
    [0, 1, 2, 3, 4, 5].map((hour) => `2026-01-01T0${hour}:00:00.000Z`),
  )
  assert.ok(runs.every(({ state, tags }) => state === 'succeeded' && tags['backfill'] === done.id))

  const from = `from=${FROM}&until=${UNTIL}`
  const { body: history } = await api.call<WirePage<WireOccurrence>>(
    ...(['GET', `${AT}/occurrences?${from}`] as const),
  )
  const times = runs.toReversed().map(({ id, due_at }) => ({
    nominal_at: due_at,
    outcome: 'backfilled',
    run: id,
    run_state: 'succeeded',
    backfills: [{ nominal_at: due_at, run: id, run_state: 'succeeded', backfill: done.id }],
  }))
  assert.deepEqual(
    history.data.map(({ nominal_at, outcome, run, run_state, backfills }) => ({
      nominal_at,
      outcome,
      run,
      run_state,
      backfills,
    })),
    times,
  )
  const { body: why } = await api.call<WireWhy>('GET', `/v1/runs/${runs[0]?.id}/why`)
  const at = '2026-01-01T05:00:00.000Z'
  assert.deepEqual(why.details, [
    `It is the run of etl/h for ${at}, made by the backfill ${done.id}.`,
  ])

  const again = await untilOver(api, (await api.start()).body)
  assert.deepEqual([again.made, again.passed], [0, 6], 'what has a run needs no other')
  const all = await untilOver(api, (await api.start({ which: 'all', max_parallel: 9 })).body)
  assert.equal(all.made, 6)
  const { body: page } = await api.call<WirePage<WireBackfill>>('GET', '/v1/backfills?limit=2')
  assert.deepEqual([page.data.map(({ id }) => id), !!page.next_cursor], [[all.id, again.id], true])
})

test('times whose run failed get another run, and no others', async (t) => {
  const api = await openWithJob(t, 'exit 1')
  await api.startWorker()
  const first = await untilOver(api, (await api.start({ max_parallel: 9 })).body)
  assert.equal(first.made, 6)
  assert.equal((await untilOver(api, (await api.start()).body)).made, 0)
  const body = { run: 'true', schedule: { name: 'h', cron: '0 * * * *', zone: 'UTC' } }
  await api.call('PUT', '/v1/jobs/etl', { body })
  const asked = { which: 'failed', max_parallel: 9, until: '2026-01-01T02:00:00Z' }
  assert.equal((await untilOver(api, (await api.start(asked)).body)).made, 3)
  assert.equal((await untilOver(api, (await api.start({ ...asked, until: UNTIL })).body)).made, 3)
})

test('no more runs are open at once than requested, and a cancelled backfill creates no more', async (t) => {
  const api = await openWithJob(t)
  const { body: started } = await api.start({ max_parallel: 2 })
  await waitFor(async () => (await runsOf(api)).length === 2, { what: 'its first runs' })
  const { body } = await api.call<WireBackfill>('POST', `/v1/backfills/${started.id}/cancel`)
  assert.deepEqual([body.state, body.made], ['cancelled', 2])
  const again = await api.call<WireBackfill>('POST', `/v1/backfills/${started.id}/cancel`)
  assert.equal(again.body.finished_at, body.finished_at)
  const other = await api.start({ which: 'all', max_parallel: 9 })
  await waitFor(
    async () => {
      const { body: seen } = await api.call<WireBackfill>('GET', `/v1/backfills/${other.body.id}`)
      return seen.made + seen.passed === 6
    },
    { what: 'the other to have dealt with all' },
  )
  assert.equal((await runsOf(api)).length, 6, 'a time with a run under way gets no second one')
})

test('an invalid backfill is refused with the field', async (t) => {
  const api = await openWithJob(t)
  const TABLE: [body: object, field: string][] = [
    [{ until: '2025-01-01T00:00:00Z' }, 'until'],
    [{ from: '1990-01-01T00:00:00Z' }, 'from'],
    [{ from: 'yesterday' }, 'from'],
    [{ which: 'some' }, 'which'],
    [{ max_parallel: 0 }, 'max_parallel'],
  ]
  for (const [body, field] of TABLE) {
    const { status, body: problem } = await api.start(body)
    assert.deepEqual([status, (problem as unknown as { field: string }).field], [422, field])
  }
  const put = { body: { every: '5m after finish' } }
  await api.call('PUT', '/v1/jobs/etl/schedules/f', put)
  const body = { from: FROM }
  const after = await api.call('POST', '/v1/jobs/etl/schedules/f/backfill', { body })
  assert.equal(after.body['code'], 'invalid_schedule')
  const unknown = await api.call('GET', '/v1/backfills/bkf_00000000000')
  assert.equal(unknown.body['code'], 'backfill_not_found')
})

/** Both databases contain what a range in the future would have left behind. */
for (const kind of ['sqlite', 'postgres'] as const) {
  test(`${kind}: a range in the future is refused, creates no run and hides no future time`, async (t) => {
    const store = kind === 'sqlite' ? 'sqlite::memory:' : await postgresUrl()
    const api = await openWithJob(t, 'true', { store })
    // More than an hour away, so that it is still in the future when the test ends.
    const [, first] = await nextTimes(api)
    const tomorrow = new Date(Date.parse(first as string) + 24 * HOUR_MS).toISOString()
    const TABLE: [body: object, field: string][] = [
      [{ from: first, until: undefined }, 'from'],
      [{ from: first, until: tomorrow }, 'from'],
      [{ from: first, until: first, dry_run: true }, 'from'],
      [{ from: FROM, until: tomorrow }, 'until'],
      [{ from: FROM, until: tomorrow, dry_run: true }, 'until'],
      [{ from: '2999-01-01T00:00:00Z', until: undefined }, 'from'],
    ]
    for (const [body, field] of TABLE) {
      const { status, body: problem } = await api.start(body)
      const { code, detail, hint, ...rest } = problem as unknown as Record<string, unknown>
      assert.deepEqual([status, code, rest['field']], [422, 'invalid_schedule', field])
      assert.match(String(detail), /^(from|until): \S+ is in the future$/)
      assert.match(String(hint), /past times/)
    }
    assert.deepEqual((await api.call<WirePage<object>>('GET', '/v1/backfills')).body.data, [])
    assert.deepEqual(await runsOf(api), [])
    assert.ok((await nextTimes(api)).includes(first as string))
  })
}

test('times that a paused schedule has yet to process are not backfilled', async (t) => {
  const api = await openWithJob(t)
  await api.call('PUT', '/v1/jobs/etl/schedules/s', { body: { every: '1s' } })
  await api.call('POST', '/v1/jobs/etl/schedules/s/pause', { body: {} })
  const since = await waitFor(
    async () => {
      const path = `/v1/jobs/etl/schedules/s/occurrences?from=${FROM}&until=${new Date().toISOString()}`
      const { body } = await api.call<WirePage<WireOccurrence>>('GET', path)
      return body.data.find(({ outcome }) => outcome === 'due')?.nominal_at
    },
    { what: 'a time to come due while it is paused' },
  )
  const body = { from: since }
  const refused = await api.call('POST', '/v1/jobs/etl/schedules/s/backfill', { body })
  assert.deepEqual([refused.status, refused.body['field']], [422, 'from'])
  assert.match(String(refused.body['detail']), /has not yet handled its times since/)
})

test('a backfill is planned, started, watched and cancelled from the command line', async (t) => {
  const api = await openWithJob(t)
  await api.startWorker()
  const run = async (...argv: string[]) => {
    const env = { PUNCTUAL_SERVER: api.url, PUNCTUAL_TOKEN: ROOT_TOKEN }
    const terminal = createFakeTerminal({ env, columns: 120 })
    const words = ['backfill', ...argv]
    const code = await runProgram(words, {
      terminal,
      version: '9.9.9',
      addServerCommands: () => {},
    })
    return { code, ...terminal.written }
  }
  assert.match((await run('ls')).err, /No backfills/)
  for (const from of ['yesterday 00:00', '2026-11-01', '24h', '5m ago', 'last monday']) {
    const planned = await run('etl', '--from', from, '--to', 'now', '--dry-run')
    assert.equal(planned.code, 0, planned.err)
  }
  const future = await run('etl', '--from', 'tomorrow 09:00')
  assert.equal(future.code, 2)
  assert.match(
    future.err,
    /^✖ --from: \S+ is in the future\n {2}help: {2}A backfill is for past times/,
  )
  for (const flag of ['--until', '--to']) {
    const { err } = await run('etl', '--from', '24h', flag, 'tomorrow')
    assert.match(err, new RegExp(`^✖ ${flag}: \\S+ is in the future\\n`))
  }
  assert.match((await run('etl', '--from', 'soon')).err, /^✖ --from: "soon" is not a time\n/)
  assert.equal((await run('etl')).code, 2)
  const range = ['--from', FROM, '--until', UNTIL]
  const plan = await run('etl', ...range, '--dry-run', '--reverse')
  assert.match(plan.out, /^6 of 6 times of etl\/h would become runs \(missing\)\n/)
  const done = await run('etl', ...range, '--max-parallel', '3', '--wait')
  assert.match(done.out, /^bkf_\w+ {2}etl\/h {2}done\n.*\n {2}6 made, 0 needed none, of 6; 0 under/)
  const [, id = ''] = /^(bkf_\w+)/.exec(done.out) ?? []
  assert.match((await run('ls')).out, new RegExp(`${id} +etl/h +done +6/6`))
  assert.match((await run('cancel', id)).out, / done\n/)
})
