import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WireBackfill } from '../../src/core/schedule/backfill/views.ts'
import type { WireOccurrence } from '../../src/core/schedule/definition/schedule-views.ts'
import type { WirePage } from '../../src/core/wire/views.ts'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { type KillableServer, startKillableServer } from '../support/killable-server.ts'
import { openHome } from '../support/punctual-home.ts'
import { waitFor } from '../support/wait-for.ts'

const AT = '/v1/jobs/etl/schedules/minutes'
const FROM = '2026-01-01T00:00:00.000Z'
const UNTIL = '2026-01-01T04:09:00.000Z'
const TIMES = 250

async function everyPage<T>({ call }: KillableServer, path: string): Promise<T[]> {
  const all: T[] = []
  for (let cursor = ''; ;) {
    const page = await call<WirePage<T>>('GET', `${path}&limit=100${cursor}`)
    all.push(...page.data)
    if (page.next_cursor === null) return all
    cursor = `&cursor=${page.next_cursor}`
  }
}

test('a backfill whose server is killed halfway, twice, creates one run for each time', async (t) => {
  const home = openHome(t)
  let server = await startKillableServer(home)
  // In a paused queue, so that the created runs stay and none is executed after a kill.
  await server.call('PATCH', '/v1/queues/rest', { paused: true })
  const schedule = { name: 'minutes', cron: '* * * * *', zone: 'UTC' }
  await server.call('PUT', '/v1/jobs/etl', { run: 'true', queue: 'rest', schedule })
  const asked = { from: FROM, until: UNTIL, max_parallel: 1_000 }
  const { id, times } = await server.call<WireBackfill>('POST', `${AT}/backfill`, asked)
  assert.equal(times, TIMES)

  const madeMoreThan = (count: number) =>
    waitFor(
      async () => {
        const { made } = await server.call<WireBackfill>('GET', `/v1/backfills/${id}`)
        return made > count ? made : undefined
      },
      { what: `more than ${count} runs to be made` },
    )
  let made = 0
  for (let kills = 0; kills < 3 && made < TIMES; kills += 1) {
    made = await madeMoreThan(made)
    await server.kill()
    server = await startKillableServer(home)
  }
  assert.ok(made < TIMES, 'it was killed before it was over')
  await madeMoreThan(TIMES - 1)

  const all = await everyPage<WireRun>(server, '/v1/runs?job=etl')
  // The schedule continues meanwhile.
  const runs = all.filter(({ due_at }) => String(due_at) <= UNTIL)
  const expected = Array.from({ length: TIMES }, (_, minute) =>
    new Date(Date.parse(FROM) + minute * 60_000).toISOString(),
  )
  assert.deepEqual(
    runs.map(({ due_at }) => String(due_at)).toSorted(),
    expected,
    'every time of the range, each once',
  )
  const history = await everyPage<WireOccurrence>(
    ...([server, `${AT}/occurrences?from=${FROM}&until=${UNTIL}`] as const),
  )
  const byTime = new Map(runs.map((run) => [run.due_at, run.id]))
  assert.deepEqual(
    history.map(({ nominal_at, outcome, run, backfills }) => [
      nominal_at,
      outcome,
      run,
      backfills.map(({ backfill }) => backfill),
    ]),
    expected.map((at) => [at, 'backfilled', byTime.get(at), [id]]),
  )
})
