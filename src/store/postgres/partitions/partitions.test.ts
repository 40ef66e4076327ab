import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { idAtMs } from '../../../core/ids.ts'
import { sortedNumbers, DAY_MS, endCommandFor, HOUR_MS, START_MS } from '../../contract/fixture.ts'
import { onFreshStores, type StoreWorld } from '../../contract/world.ts'
import { connectAdmin, openIn } from '../postgres.fixture.ts'
import { atticName, firstIdOfWeek, HISTORY, partitionName, weekOfId, weekOfMs } from './weeks.ts'

const WEEK_MS = 7 * DAY_MS

interface Inside {
  readonly world: StoreWorld
  readonly warnings: string[]
  /** Weeks that have a partition of this table. */
  weeks(table: string): Promise<number[]>
  /** Rows of one partition, for example of the attic. */
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

async function pruneAll({ store }: StoreWorld, endedBefore: number): Promise<void> {
  for (let batches = 0; (await store.prune({ endedBefore, limit: 100 })).more; batches += 1) {
    assert.ok(batches < 100, 'pruning never ends')
  }
}

test(
  'this week and the three ahead have partitions, also a month later',
  inside(async ({ world, weeks }) => {
    const first = weekOfMs(START_MS)
    const expected = [first, first + 1, first + 2, first + 3]
    for (const { table } of HISTORY)
      assert.deepEqual(await weeks(table), [], 'no partition is created by an unchecked clock')
    await world.store.maintain({ mayDelete: false, isClockOff: true })
    for (const { table } of HISTORY) assert.deepEqual(await weeks(table), [])
    await world.store.maintain({ mayDelete: false })
    for (const { table } of HISTORY) assert.deepEqual(await weeks(table), expected)
    world.clock.advance(4 * WEEK_MS)
    await world.store.maintain({ mayDelete: true })
    for (const { table } of HISTORY) assert.deepEqual((await weeks(table)).at(-1), first + 7)
  }),
)

test(
  'an id from far ahead or from before the first week gets a partition',
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
  'an old week is dropped as a whole; live and recent runs move to the attic with their attempts',
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
    await world.store.maintain({ mayDelete: true })
    await world.end(second!, { result: '"late"' })

    await pruneAll(world, world.clock.now() - DAY_MS)
    for (const { table } of HISTORY) assert.ok(!(await weeks(table)).includes(oldWeek))
    assert.deepEqual(
      [await count('run_attic'), await count('run_end_attic'), await count('attempt_attic')],
      [3, 1, 1],
    )
    const kept = (await world.list()).map(({ id }) => id)
    assert.deepEqual(sortedNumbers(kept), sortedNumbers([waiting.id, queued.id, long.runId]))
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
  'a run that ends while its week is being dropped keeps its end',
  inside(async ({ world }) => {
    const leases = await Promise.all(
      Array.from({ length: 20 }, () => world.newRun({ reservation: world.reservation() })).map(
        async (run) => {
          await world.submit(run)
          return { runId: run.id, fence: run.reservation!.fence }
        },
      ),
    )
    world.clock.advance(8 * WEEK_MS)
    await world.store.maintain({ mayDelete: true })
    const endedBefore = world.clock.now()
    const ending = leases.map((lease) =>
      world.tick({ ends: [endCommandFor(lease, { result: '1' })] }),
    )
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
  'a prune that cannot lock the tables at once leaves them alone and reports it',
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
  'partitions that cannot be created are an alarm, not a crash',
  inside(async ({ world, warnings, query }) => {
    await query(`CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql
                 AS $$ BEGIN RAISE EXCEPTION 'no more tables'; END $$`)
    await query(`CREATE EVENT TRIGGER refuse ON ddl_command_start
                 WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION refuse()`)
    world.clock.advance(10 * WEEK_MS)
    await world.store.maintain({ mayDelete: true })
    await query('DROP EVENT TRIGGER refuse')
    assert.equal(warnings.length, 1)
    assert.match(warnings[0]!, /could not make partitions .* no more tables/)
  }),
)

/** Simulates a node of a version before the tag index: it does not know the table. */
async function dropWithoutTags(query: Inside['query'], week: number): Promise<void> {
  for (const { table } of HISTORY.filter((one) => one.table !== 'run_tag')) {
    const [old, attic] = [partitionName(table, week), atticName(table)]
    await query(`ALTER TABLE ${table} DETACH PARTITION ${old}`)
    await query(`ALTER TABLE ${table} DETACH PARTITION ${attic}`)
    await query(`DROP TABLE ${old}`)
    await query(`ALTER TABLE ${table} ATTACH PARTITION ${attic}
                   FOR VALUES FROM (MINVALUE) TO (${firstIdOfWeek(week + 1)})`)
  }
}

test(
  'weeks are still dropped after a node of an earlier version has dropped one without its tags',
  inside(async ({ world, weeks, query }) => {
    const first = weekOfMs(world.clock.now())
    for (const advanceMs of [WEEK_MS, 8 * WEEK_MS]) {
      await world.end(await world.start({ tags: '{"team":"a"}' }))
      world.clock.advance(advanceMs)
    }
    await world.store.maintain({ mayDelete: true })
    await dropWithoutTags(query, first)
    assert.deepEqual((await weeks('run_tag'))[0], first)
    await pruneAll(world, world.clock.now() - DAY_MS)
    assert.ok((await weeks('run'))[0]! > first + 1)
    assert.deepEqual(await weeks('run_tag'), await weeks('run'))
  }),
)

const BY_TAG = {
  states: null,
  jobIds: null,
  jobNames: null,
  queues: null,
  workers: null,
  causes: null,
  withoutSteps: false,
  from: 0,
  before: Number.MAX_SAFE_INTEGER,
  tags: [{ name: 'team', values: ['a'] }],
  limit: 10,
  examine: 1_000,
  maxMs: 60_000,
}

test(
  'a run in the attic, or older than the tag index, is still found by its tags',
  inside(async ({ world, query }) => {
    const found = async () => {
      const page = await world.store.searchRuns({ ...BY_TAG, projectId: world.project })
      return page.runs.map(({ id }) => id)
    }
    const tags = '{"team":"a"}'
    const kept = world.newRun({ tags, dueAt: world.clock.now() + 100 * DAY_MS })
    await world.submit(kept)
    world.clock.advance(8 * WEEK_MS)
    await world.store.maintain({ mayDelete: true })
    const [young] = world.newRuns(1, { tags })
    await world.submit(young!)
    await pruneAll(world, world.clock.now() - DAY_MS)
    assert.deepEqual(await query('SELECT run_id FROM run_tag_attic'), [])
    assert.deepEqual(await found(), [young!.id, kept.id])
    // As an upgrade leaves it: the index has no tags of runs so far.
    await query('DELETE FROM run_tag')
    await query(`UPDATE meta SET value = '${young!.id + 1}' WHERE key = 'tags_indexed_from'`)
    assert.deepEqual(await found(), [young!.id, kept.id])
  }),
)

test(
  'a week created by a node of an older version gets its tag index',
  inside(async ({ world, weeks, query }) => {
    await world.store.maintain({ mayDelete: false })
    const last = (await weeks('run')).at(-1)
    await query(`DROP TABLE run_tag_w${last}`)
    await world.store.maintain({ mayDelete: true })
    assert.deepEqual(await weeks('run_tag'), await weeks('run'))
  }),
)
