import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endCommandFor, ids } from '../contract/fixture.ts'
import { withWorkflows } from '../contract/workflows/workflow-fixture.ts'
import { onFreshStores, type StoreWorld } from '../contract/world.ts'
import { BEGIN_WORKFLOWS, PICK_READY } from './workflows/begin-workflows.ts'
import { CANCEL } from './ticks/cancel.ts'
import { CLAIM } from './ticks/claim.ts'
import { Connection } from './connection/connection.ts'
import { CLAIM_DELIVERIES } from './webhooks/deliveries.ts'
import { END, SUCCEED, SUCCEED_AND_RELEASE } from './ticks/end.ts'
import { LOCK_SCHEDULES, ADVANCE_SCHEDULES, OPEN_RUNS } from './schedules/fire.ts'
import {
  COUNT_ITEMS,
  COUNT_STEPS,
  FIND_WORKFLOWS,
  RESULTS_OF,
  STEPS_BEHIND,
} from './workflows/workflow-queries.ts'
import { END_WORKFLOWS, LOCK_WORKFLOWS, ADVANCE_WORKFLOWS } from './workflows/workflows.ts'
import {
  ADD_NEEDS,
  LOCK_WAITING,
  NEEDS_OF,
  RELEASE_FOLLOWERS,
  SKIP,
  TRY_WAITING,
} from './ticks/needs.ts'
import { EMIT_SIGNALS } from './signals/emit-signals.ts'
import { RECORD_FOLLOW_UPS } from './signals/record-follow-ups.ts'
import { RECORD_OUTBOX_EVENTS, SERIALIZE_ENDS } from './webhooks/outbox.ts'
import { openIn } from './postgres.fixture.ts'
import { DUE_SCHEDULES } from './schedules/schedule-queries.ts'
import type { Statement } from './connection/statement.ts'
import { PROCESS_STEPS } from './workflows/steps.ts'
import { SUBMIT, SUBMIT_AGAIN, SUBMIT_WITHOUT_OPTIONS } from './ticks/submit.ts'
import { read } from './connection/transaction.ts'

const HOT_TABLES = [
  'ready',
  'timer',
  'lease',
  'blocked',
  'gate',
  'dedupe',
  'schedule_next',
  'awaited',
  'told',
  'need',
]
const OTHER_TABLES = ['run', 'run_end', 'flow', 'step', 'wave']
const STATEMENTS: readonly Statement[] = [
  SUBMIT,
  SUBMIT_AGAIN,
  SUBMIT_WITHOUT_OPTIONS,
  END,
  SUCCEED,
  SUCCEED_AND_RELEASE,
  CLAIM,
  CANCEL,
  SERIALIZE_ENDS,
  RECORD_OUTBOX_EVENTS,
  LOCK_SCHEDULES,
  OPEN_RUNS,
  ADVANCE_SCHEDULES,
  DUE_SCHEDULES,
  EMIT_SIGNALS,
  RECORD_FOLLOW_UPS,
  PICK_READY,
  BEGIN_WORKFLOWS,
  LOCK_WORKFLOWS,
  ADVANCE_WORKFLOWS,
  END_WORKFLOWS,
  PROCESS_STEPS,
  FIND_WORKFLOWS,
  STEPS_BEHIND,
  RESULTS_OF,
  ADD_NEEDS,
  LOCK_WAITING,
  TRY_WAITING,
  NEEDS_OF,
  RELEASE_FOLLOWERS,
  SKIP,
]

/** The plan that a hot connection caches for a statement, made now. */
async function planOf(connection: Connection, { name, text }: Statement): Promise<string[]> {
  const parameters = Math.max(...[...text.matchAll(/\$(\d+)/g)].map(([, n]) => Number(n)))
  const nulls = Array.from({ length: parameters }, () => 'NULL').join()
  const run = <Row>(sql: string) => read<Row>(connection, { name: '', text: sql })
  await run(`PREPARE "${name}" AS ${text}`)
  const rows = await run<{ 'QUERY PLAN': string }>(
    `EXPLAIN (COSTS off) EXECUTE "${name}"(${nulls})`,
  )
  await run(`DEALLOCATE "${name}"`)
  return rows.map((row) => row['QUERY PLAN'])
}

/** How each table is read, in the order of the plan. Weeks look alike. */
function accessesIn(plan: readonly string[]): string[] {
  return (
    plan
      .flatMap((line) => /(\w+ )?(\w+) Scan (using \w+ )?on \w+/.exec(line)?.[0] ?? [])
      .filter((access) => !/CTE|Function|Subquery/.test(access))
      .map((access) => access.replaceAll(/_(w\d+|attic)/g, ''))
      // Through a bitmap or not: the same index, the same rows.
      .filter((access) => !access.includes('Bitmap Heap'))
      .map((access) =>
        access.replace(/(?:Bitmap )?Index Scan (?:using (\w+) on \w+|on (\w+))/, 'index $1$2'),
      )
  )
}

/** Workflows with steps under way, and a run that waits for each of the steps. */
async function beginWorkflows(given: StoreWorld, count: number): Promise<void> {
  const world = await withWorkflows(given)
  for (let begun = 0; begun < count; begun += 1) {
    const { runs } = await world.beginWith(40)
    const followers = runs.map(({ id }) => world.newRun({ after: [{ runId: id, wants: 'any' }] }))
    await world.submit(...followers)
  }
}

/** A batch of everything, so that each table has had rows, and none has any at the end. */
async function work(world: StoreWorld): Promise<void> {
  const runs = world.newRuns(400)
  await world.submit(...runs)
  const leases = await world.claim(400)
  await world.tick({ ends: leases.map((lease) => endCommandFor(lease)) })
  await beginWorkflows(world, 5)
  await world.tick({ ends: (await world.claim(400)).map((lease) => endCommandFor(lease)) })
  const waiting = (await world.list()).filter(({ state }) => state === 'blocked')
  await world.store.recheck({ limit: 0, recheckMs: 1, runs: ids(waiting) })
  await world.tick({ ends: (await world.claim(400)).map((lease) => endCommandFor(lease)) })
}

async function fill(world: StoreWorld): Promise<void> {
  for (let batch = 0; batch < 10; batch += 1) {
    await world.submit(...world.newRuns(400))
    await world.claim(200)
  }
  await beginWorkflows(world, 20)
}

test('hot statements reach every row through an index, whatever the tables held when they were planned', async (t) => {
  let where = { url: '', schema: '' }
  const open = openIn({ place: (place) => (where = place) })
  await onFreshStores(open)(async (world) => {
    await world.store.maintain({ mayDelete: false })
    const ignore = () => {}
    const role = 'hot'
    const connection = await Connection.open({
      ...where,
      role,
      onWarn: ignore,
      onConnectionSetUp: ignore,
    })
    const vacuum = async () => {
      for (const table of [...HOT_TABLES, ...OTHER_TABLES]) {
        await read(connection, { name: '', text: `VACUUM ANALYZE ${table}` })
      }
    }
    const plans = async () => {
      const found = new Map<string, string[]>()
      for (const statement of STATEMENTS) {
        found.set(statement.name, accessesIn(await planOf(connection, statement)))
      }
      return found
    }
    try {
      const fresh = await plans()
      for (const [name, accesses] of fresh) {
        assert.ok(accesses.length > 0 || name.startsWith('submit'), name)
        assert.ok(
          !accesses.some((access) => access.includes('Seq')),
          `${name}: ${accesses.join('; ')}`,
        )
      }
      await vacuum()
      assert.deepEqual(await plans(), fresh, 'vacuumed while empty')
      await work(world)
      await vacuum()
      assert.deepEqual(await plans(), fresh, 'vacuumed after everything was deleted')
      await fill(world)
      assert.deepEqual(await plans(), fresh, 'filled since')
      await vacuum()
      assert.deepEqual(await plans(), fresh, 'vacuumed while full')
    } finally {
      await connection.close()
    }
  })(t)
})

test('unprocessed steps are found by their whole key, so that counting very many is a single index scan', async (t) => {
  let where = { url: '', schema: '' }
  await onFreshStores(openIn({ place: (place) => (where = place) }))(async () => {
    const ignore = () => {}
    const role = 'hot'
    const connection = await Connection.open({
      ...where,
      role,
      onWarn: ignore,
      onConnectionSetUp: ignore,
    })
    try {
      for (const statement of [COUNT_STEPS, COUNT_ITEMS]) {
        const plan = (await planOf(connection, statement)).join('\n')
        const found = /on told.*\n\s+Index Cond: (.*)/.exec(plan)?.[1] ?? plan
        assert.match(found, /flow_id = .* AND \(step = s\.step\) AND \(item = s\.item\)/)
      }
    } finally {
      await connection.close()
    }
  })(t)
})

test('due deliveries of an endpoint are found in its own range, even by a plan made while there were none', async (t) => {
  let where = { url: '', schema: '' }
  await onFreshStores(openIn({ place: (place) => (where = place) }))(async () => {
    const ignore = () => {}
    const role = 'duty'
    const connection = await Connection.open({
      ...where,
      role,
      onWarn: ignore,
      onConnectionSetUp: ignore,
    })
    const assertSeeks = async () => {
      const plan = (await planOf(connection, CLAIM_DELIVERIES)).join('\n')
      assert.match(plan, /using delivery_due on delivery\n\s+Index Cond: .*webhook_id >= .*ROW\(/)
      assert.match(plan, /on delivery d\n\s+Index Cond: .*\bid = /)
    }
    try {
      await assertSeeks()
      for (const table of ['webhook', 'delivery']) {
        await read(connection, { name: '', text: `VACUUM ANALYZE ${table}` })
      }
      await assertSeeks()
    } finally {
      await connection.close()
    }
  })(t)
})
