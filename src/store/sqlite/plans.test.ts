import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from 'better-sqlite3'
import { STATES } from '../../core/run/run-state.ts'
import * as admit from './gates/admit.ts'
import * as audit from './audit/audit.ts'
import * as backfills from './backfills/backfills.ts'
import * as beginWorkflows from './workflows/begin-workflows.ts'
import * as blobs from './blobs/blobs.ts'
import { valuesList } from './connection/bulk.ts'
import * as cancel from './ticks/cancel.ts'
import * as catalog from './catalog/catalog.ts'
import * as claim from './ticks/claim.ts'
import * as definitions from './definitions/definitions.ts'
import * as deliveries from './webhooks/deliveries.ts'
import * as end from './ticks/end.ts'
import * as fire from './schedules/fire.ts'
import * as workflowQueries from './workflows/workflow-queries.ts'
import * as workflows from './workflows/workflows.ts'
import * as followQueries from './followers/follow-up-queries.ts'
import * as followUps from './followers/settle-follow-ups.ts'
import * as followers from './followers/followers.ts'
import { openEngine } from './engine/engine.ts'
import * as hooks from './definitions/hooks.ts'
import * as keys from './ticks/submit-keys.ts'
import * as laneHeads from './queues/lane-heads.ts'
import * as violations from './expectations/expectations.ts'
import * as leases from './leases/leases.ts'
import * as logs from './logs/logs.ts'
import * as needs from './ticks/needs.ts'
import * as recordFollowUps from './signals/record-follow-ups.ts'
import * as signals from './signals/emit-signals.ts'
import * as numberedJobs from './definitions/numbered-jobs.ts'
import * as origins from './runs/origins.ts'
import * as outbox from './webhooks/outbox.ts'
import { pageSql } from './runs/run-queries.ts'
import * as promote from './sweeps/promote.ts'
import * as prune from './maintenance/prune.ts'
import * as queries from './runs/run-queries.ts'
import * as queues from './queues/queues.ts'
import * as rates from './ticks/claim-within-rates.ts'
import * as runTags from './runs/run-tags.ts'
import * as pruneOccurrences from './maintenance/prune-occurrences.ts'
import * as recheck from './sweeps/recheck.ts'
import * as recount from './gates/recount.ts'
import * as scheduleQueries from './schedules/schedule-queries.ts'
import * as schedules from './schedules/schedules.ts'
import * as searchRuns from './runs/search-runs.ts'
import * as secrets from './secrets/secrets.ts'
import * as sessions from './sessions/sessions.ts'
import * as steps from './workflows/steps.ts'
import * as submit from './ticks/submit.ts'
import * as tokens from './tokens/tokens.ts'
import * as waiting from './runs/waiting.ts'
import * as webhooks from './webhooks/webhooks.ts'

const MODULES = {
  admit,
  audit,
  backfills,
  beginWorkflows,
  blobs,
  cancel,
  catalog,
  claim,
  definitions,
  deliveries,
  end,
  fire,
  workflowQueries,
  workflows,
  followQueries,
  followUps,
  followers,
  hooks,
  keys,
  laneHeads,
  violations,
  leases,
  logs,
  needs,
  recordFollowUps,
  signals,
  numberedJobs,
  origins,
  outbox,
  promote,
  prune,
  pruneOccurrences,
  queues,
  rates,
  recheck,
  recount,
  runTags,
  scheduleQueries,
  schedules,
  secrets,
  sessions,
  steps,
  submit,
  tokens,
  waiting,
  webhooks,
}
/**
 * Counting has to scan a whole index: that of the counted state, or of a workflow. So does listing
 * holders, up to a bound.
 */
const WALKS = new Set([
  queries.LIVE_COUNTS,
  queues.LANE_DEPTHS,
  sessions.LIST_SESSIONS,
  workflowQueries.COUNT_STEPS,
  recount.READY_UP_TO,
  recount.HOLDERS,
  waiting.HELD_BY_RUNNING,
  waiting.HELD_BY_READY,
  workflowQueries.COUNT_ITEMS,
])

function planOf(db: Database, sql: string): string[] {
  const explain = db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
  const names = [...sql.matchAll(/:(\w+)/g)].map(([, name]) => [name, null])
  const rows =
    names.length > 0
      ? explain.all(Object.fromEntries(names))
      : explain.all(...Array.from(sql.matchAll(/\?/g), () => null))
  return rows.map(({ detail }) => detail)
}

function sqlIn(module: object): [name: string, sql: string][] {
  return Object.entries(module).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && !WALKS.has(entry[1]),
  )
}

const { raw } = openEngine({ path: ':memory:' })

for (const [module, exports] of Object.entries(MODULES)) {
  for (const [name, sql] of sqlIn(exports)) {
    test(`${module} ${name} finds its rows by an index, in order`, () => assertSeeks(sql))
  }
}

for (const rows of [1, 8, 64]) {
  for (const succeed of [end.succeed, end.succeedGated]) {
    test(`${rows} successes in bulk find their rows by id`, () => {
      const plan = planOf(raw, succeed(valuesList(rows, 4)))
      assert.ok(plan.includes('SEARCH run USING INTEGER PRIMARY KEY (rowid=?)'), plan.join('; '))
    })
  }
  test(`${rows} schedules that advance in bulk are found by id`, () => {
    const plan = planOf(raw, fire.advanceSchedules(valuesList(rows, 5)))
    assert.ok(plan.includes('SEARCH schedule USING INTEGER PRIMARY KEY (rowid=?)'), plan.join('; '))
  })
}

for (const owner of ['project', 'job'] as const) {
  for (const state of [null, ...STATES]) {
    for (const withoutSteps of [false, true]) {
      const which = `${state ?? 'all'} runs${withoutSteps ? ' that are no steps' : ''}`
      test(`a page of ${which} of a ${owner} is read in order`, () =>
        assertSeeks(pageSql({ owner, state, withoutSteps })))
    }
  }
}

const FILTER = searchRuns.conditionOf({
  projectId: 1,
  states: ['failed'],
  jobIds: [1],
  jobNames: ['a*'],
  queues: ['q'],
  workers: ['w'],
  causes: ['exit'],
  tags: [{ name: 'a', values: ['b'] }],
  withoutSteps: true,
  from: 0,
  before: 1,
  limit: 1,
  examine: 1,
  maxMs: 1,
}).sql
for (const source of [
  { by: 'project' },
  { by: 'job', jobId: 1 },
  { by: 'ended', state: 'failed', jobId: null },
  { by: 'ended', state: 'skipped', jobId: 1 },
  { by: 'tag', name: 'a', value: 'b' },
] as const) {
  test(`a search by ${Object.values(source).join(' ')} walks one index in order`, () => {
    assertSeeks(searchRuns.rowsSql(source, FILTER))
    const [walk, ...rest] = planOf(raw, searchRuns.floorSql(source))
    assert.match(walk ?? '', /^SEARCH .*(COVERING INDEX|PRIMARY KEY)/)
    assert.deepEqual(rest, [])
  })
}

const CHOSEN: [why: string, sql: string, index: string][] = [
  ['a claim reads the ready index', claim.READY_FROM_START, 'run_ready (lane_id=?)'],
  [
    'a floor is a seek, not a filter',
    claim.READY_AFTER,
    'run_ready (lane_id=? AND (rank,pos)>(?,?))',
  ],
  ['due timers come from the timer index', promote.DUE_TIMERS, 'run_timer (timer_at<?)'],
  ['the next timer is the first one', promote.NEXT_TIMER_DUE, 'run_timer'],
  ['those who wait at a gate are in line', admit.WAITING_AT, 'run_blocked (gate_id=?)'],
  ['whether any run waits at a gate', admit.HAS_WAITING, 'run_blocked (gate_id=?)'],
  ['rechecks come from their index', recheck.PAST_RECHECK, 'run_recheck (recheck_at<?)'],
  ['a node finds its leases', leases.OWNED_BY, 'run_lease (node=? AND rowid>?)'],
  ['a node finds its cancel marks', leases.MARKED, 'run_lease_cancelling (node=?)'],
  ['a session finds its leases', sessions.HELD_BY_SESSION, 'run_lease (node=?)'],
  ['due schedules come from their index', scheduleQueries.DUE_SCHEDULES, 'schedule_look (look_at'],
  ['due workflows come from their index', workflows.DUE_WORKFLOWS, 'flow_look (look_at<?)'],
  [
    'so do workflows with unprocessed ends',
    workflows.UNPROCESSED_WORKFLOWS,
    'step_told (told_at<?)',
  ],
  ['a run finds the steps it is', signals.SIGNAL_STEPS, 'step_by_run (run_id=?)'],
  ['and those who wait for it', signals.WAITING_FOR, 'need_of (needed_id=?)'],
  [
    'failures have their own index',
    pageSql({ owner: 'project', state: 'failed', withoutSteps: false }),
    'run_unlucky_by_project',
  ],
]
for (const [why, sql, index] of CHOSEN) {
  test(why, () => {
    const plan = planOf(raw, sql)
    assert.ok(
      plan.some((step) => step.includes(`INDEX ${index}`)),
      plan.join('; '),
    )
  })
}

test('live counts walk the index of each state and never the table', () => {
  const walked = planOf(raw, queries.LIVE_COUNTS).filter((step) => step.startsWith('SCAN run'))
  assert.equal(walked.length, 4)
  for (const step of walked)
    assert.match(step, /COVERING INDEX run_(ready|lease|timer|blocked|recheck)/)
})

test('the steps of a workflow are counted within the workflow', () => {
  const [walk] = planOf(raw, workflowQueries.COUNT_STEPS)
  assert.equal(walk, 'SEARCH step USING PRIMARY KEY (flow_id=?)')
})

for (const [what, sql, index] of [
  ['depths of lanes', queues.LANE_DEPTHS, 'run_ready'],
  ['what sessions run', sessions.LIST_SESSIONS, 'run_lease'],
] as const) {
  test(`${what} are counted along the index of one state`, () => {
    const walked = planOf(raw, sql).filter((step) => step.startsWith('SCAN run'))
    assert.equal(walked.length, 1)
    assert.ok(walked[0]?.includes(`INDEX ${index}`), walked[0])
  })
}

function assertSeeks(sql: string): void {
  const plan = planOf(raw, sql)
  assert.ok(
    plan.every(
      (step) =>
        !/^SCAN (run|attempt|dedupe|lane|job|project|gate|webhook|delivery(?!.*delivery_next)|failing_job|schedule|occurrence|flow(?!.*flow_live)|step|wave|run_tag)\b(?!.*run_timer)/.test(
          step,
        ),
    ),
    plan.join('; '),
  )
  assert.ok(
    plan.every((step) => !step.includes('TEMP B-TREE')),
    plan.join('; '),
  )
}
