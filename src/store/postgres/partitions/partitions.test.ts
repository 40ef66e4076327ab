import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { idAtMs } from '../../../core/ids.ts'
import { ascending, DAY_MS, endOf, HOUR_MS, START_MS } from '../../contract/fixture.ts'
import { onFreshStores, type World } from '../../contract/world.ts'
import { connectAdmin, openIn } from '../postgres.fixture.ts'
import { HISTORY, weekOfId, weekOfMs } from './weeks.ts'

const WEEK_MS = 7 * DAY_MS

interface Inside {
  readonly world: World
  readonly warnings: string[]
  /** Weeks that have a partition of this table. */
  weeks(table: string): Promise<number[]>
  /** Rows of one partition, say of the attic. */
  count(partition: string): Promise<number>
  query(sql: string): Promise<Record<string, unknown>[]>
}

function inside(body: (inside: Inside) => Promise<void>): (t: TestContext) => Promise<void> {
  return async (t) => {
    let where = { url: '', schema: '' }
    const warnings: string[] = []
    const open = openIn({
      place: (place) => (where = place),
      onWarn: (message) => void warnings.push(message),
    })
    await onFreshStores(open)(async (world) => {
      const admin = await connectAdmin(where.url)
      await admin.query(`SET search_path TO ${where.schema}`)
      const query = async (sql: string) => (await admin.query<Record<string, unknown>>(sql)).rows
      try {
        await body({
          world,
          warnings,
          query,
          count: async (partition) =>
            Number((await query(`SELECT count(*) FROM ${partition}`))[0]!.count),
          weeks: async (table) => {
            const rows = await query(
              `SELECT inhrelid::regclass::text AS name FROM pg_inherits
                WHERE inhparent = '${table}'::regclass`,
            )
            return rows
              .flatMap(({ name }) => /_w(\d+)$/.exec(String(name))?.[1] ?? [])
              .map(Number)
              .toSorted((a, b) => a - b)
          },
        })
      } finally {
        await admin.end()
      }
    })(t)
  }
}

async function pruneAll({ store }: World, endedBefore: number): Promise<void> {
  for (let bites = 0; (await store.prune({ endedBefore, limit: 100 })).more; bites += 1) {
    assert.ok(bites < 100, 'pruning never ends')
  }
}

test(
  'this week and the three ahead have partitions, and so they have a month later',
  inside(async ({ world, weeks }) => {
    const first = weekOfMs(START_MS)
    const expected = [first, first + 1, first + 2, first + 3]
    for (const { table } of HISTORY) assert.deepEqual(await weeks(table), expected)
    world.clock.advance(4 * WEEK_MS)
    await world.store.maintain()
    for (const { table } of HISTORY) assert.deepEqual((await weeks(table)).at(-1), first + 7)
  }),
)

test(
  'an id from far ahead or from before the beginning finds a place of its own',
  inside(async ({ world, weeks, count }) => {
    const [past, ahead] = [idAtMs(START_MS - 90 * DAY_MS), idAtMs(START_MS + 400 * DAY_MS)]
    const runs = [world.newRun({ id: ahead }), world.newRun(), world.newRun({ id: past })]
    const verdicts = await world.submit(...runs)
    assert.deepEqual(
      verdicts,
      runs.map(() => ({ kind: 'inserted' })),
    )
    for (const { table } of HISTORY) assert.ok((await weeks(table)).includes(weekOfId(ahead)))
    assert.equal(await count('run_attic'), 1)
    for (const lease of await world.claim(3)) assert.equal(await world.end(lease), 'ended')
  }),
)

test(
  'two stores that need the same new week at once both get it',
  inside(async ({ world }) => {
    const ahead = START_MS + 300 * DAY_MS
    const ids = Array.from({ length: 6 }, (_, nth) => idAtMs(ahead + nth * WEEK_MS))
    const verdicts = await Promise.all(
      [...ids, ...ids].map((id, nth) => world.submit(world.newRun({ id: id + nth }))),
    )
    assert.ok(verdicts.flat().every(({ kind }) => kind === 'inserted'))
  }),
)

test(
  'an old week goes as a whole; what is live or recent moves to the attic, attempts and all',
  inside(async ({ world, weeks, count, query }) => {
    const oldWeek = weekOfMs(world.clock.now())
    const forgotten = await world.start()
    await world.end(forgotten)
    const waiting = world.newRun({ dueAt: world.clock.now() + 100 * DAY_MS })
    const queued = world.newRun({ input: '"kept"', rank: 5 })
    await world.submit(waiting, queued)
    const long = await world.start()
    await world.end(long, { to: 'retry', cause: 'exit' })
    const [second] = await world.claim(1)
    world.clock.advance(8 * WEEK_MS)
    await world.store.maintain()
    await world.end(second!, { result: '"late"' })

    await pruneAll(world, world.clock.now() - DAY_MS)
    for (const { table } of HISTORY) assert.ok(!(await weeks(table)).includes(oldWeek))
    assert.deepEqual(
      [await count('run_attic'), await count('run_end_attic'), await count('attempt_attic')],
      [3, 1, 1],
    )
    const kept = (await world.list()).map(({ id }) => id)
    assert.deepEqual(ascending(kept), ascending([waiting.id, queued.id, long.runId]))
    assert.equal((await world.find(long.runId)).result, '"late"')
    assert.equal(await world.end(long, { to: 'retry', cause: 'exit' }), 'replayed')

    // The attic is part of the table: a run in it is claimed and ended like any other.
    const [lease] = await world.claim(5)
    assert.equal(lease?.input, '"kept"')
    assert.equal(await world.end(lease), 'ended')
    world.clock.advance(HOUR_MS)
    await pruneAll(world, world.clock.now())
    assert.deepEqual(
      (await world.list()).map(({ id }) => id),
      [waiting.id],
    )
    assert.deepEqual(await query('SELECT run_id FROM attempt'), [])
  }),
)

test(
  'a run that ends while its week is being carried away keeps its end',
  inside(async ({ world }) => {
    const leases = await Promise.all(
      Array.from({ length: 20 }, () => world.newRun({ handOff: world.handOff() })).map(
        async (run) => {
          await world.submit(run)
          return { runId: run.id, fence: run.handOff!.fence }
        },
      ),
    )
    world.clock.advance(8 * WEEK_MS)
    await world.store.maintain()
    const endedBefore = world.clock.now()
    const ending = leases.map((lease) => world.tick({ ends: [endOf(lease, { result: '1' })] }))
    await Promise.all([pruneAll(world, endedBefore), ...ending])
    await pruneAll(world, endedBefore)
    const runs = await world.list()
    assert.equal(
      runs.filter(({ state, result }) => state === 'succeeded' && result === '1').length,
      20,
    )
  }),
)

test(
  'a prune that cannot have the tables at once leaves them alone and says so',
  inside(async ({ world, query, weeks, warnings }) => {
    const lease = await world.start()
    await world.end(lease)
    world.clock.advance(8 * WEEK_MS)
    const before = await weeks('run')
    await query('BEGIN')
    await query('SELECT FROM run')
    const pruned = await world.store.prune({ endedBefore: world.clock.now(), limit: 10 })
    assert.deepEqual([pruned, warnings.length], [{ more: false }, 1])
    await query('COMMIT')
    assert.deepEqual(await weeks('run'), before)
    await pruneAll(world, world.clock.now())
    assert.equal(await world.store.findRun({ projectId: world.project, runId: lease.runId }), null)
  }),
)

test(
  'partitions that cannot be made are an alarm, not a crash',
  inside(async ({ world, warnings, query }) => {
    await query(`CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql
                 AS $$ BEGIN RAISE EXCEPTION 'no more tables'; END $$`)
    await query(`CREATE EVENT TRIGGER refuse ON ddl_command_start
                 WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION refuse()`)
    world.clock.advance(10 * WEEK_MS)
    await world.store.maintain()
    await query('DROP EVENT TRIGGER refuse')
    assert.equal(warnings.length, 1)
    assert.match(warnings[0]!, /could not make partitions .* no more tables/)
  }),
)
