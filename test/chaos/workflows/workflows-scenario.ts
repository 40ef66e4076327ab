import { mkdirSync, rmSync } from 'node:fs'
import { createSeeded } from '../../sim/seeded.ts'
import { createServerHome } from '../../support/server-home.ts'
import { waitFor } from '../../support/wait-for.ts'
import {
  freezeFor,
  killAndReplace,
  PAST_LEASE_TTL_MS,
  PAST_NODE_TTL_MS,
  type FaultContext,
} from '../faults.ts'
import type { ChaosDatabase } from '../databases.ts'
import { type GatesEnvironment, openGatesEnvironment } from '../gates/gates-environment.ts'
import { RETRY_DEADLINE_MS } from '../gates/retry-until-answered.ts'
import type { FaultKind } from '../history.ts'
import type { ChaosPlan } from '../scenario.ts'
import { drawDefinitions } from './draw-definitions.ts'
import { type WorkflowLoad, createWorkflowLoad } from './workflow-load.ts'
import { dumpWorkflows } from './workflow-dump.ts'
import { running } from './step-trace-lines.ts'
import { type WorkflowHistory, workflowInvariants } from './workflow-invariants.ts'

/** Workflows whose steps are processes, while servers and workers are killed and frozen. */
export interface WorkflowsPlan extends ChaosPlan {
  readonly workflowRuns: number
  readonly servers: number
  database(dir: string): Promise<ChaosDatabase>
}

export interface WorkflowsResult {
  readonly figures: WorkflowsFigures
  readonly violations: readonly string[]
  readonly tookMs: number
}

export interface WorkflowsFigures {
  readonly workflowRuns: number
  readonly steps: number
  readonly skipped: number
  readonly cancelled: number
  readonly repeated: number
  readonly lost: number
  readonly followers: number
  readonly followersSkipped: number
  readonly serverKills: number
  readonly serverFreezes: number
  readonly workerKills: number
  readonly workerFreezes: number
  /** The longest time from a workflow's last step to its end, after the faults. */
  readonly maxClosedMs: number
}

const WORKERS = 2
const SLOTS = 8
const WORKFLOWS = 6
/** Submitted after the faults. */
const LATE_SUBMISSIONS = 8

export async function runWorkflowsScenario(plan: WorkflowsPlan): Promise<WorkflowsResult> {
  const startedMs = performance.now()
  const dir = plan.keep ?? createServerHome('punctual-workflows-')
  mkdirSync(dir, { recursive: true })
  const faults: { kind: FaultKind; target: string }[] = []
  const note = (kind: FaultKind, target: string) => void faults.push({ kind, target })
  const database = await plan.database(dir)
  const environment = await openGatesEnvironment({
    dir,
    database,
    servers: plan.servers,
    workers: WORKERS,
    slots: SLOTS,
    onDeath: (processName) => note('died', processName),
  })
  try {
    const drawn = drawDefinitions(createSeeded(plan.seed), WORKFLOWS, environment.traces.truthPath)
    const load = createWorkflowLoad(environment, database, drawn, createSeeded(plan.seed + 1))
    await load.define()
    await Promise.all(environment.workers.map((role) => role.start()))
    const faultContext = { seeded: createSeeded(plan.seed + 2), note }
    const acts = [
      load.feed(plan.workflowRuns),
      injectFaults(environment, load, plan, faultContext),
      cancelAndRetrySome(load, plan),
    ]
    await Promise.allSettled(acts)
    await Promise.all(acts)
    const early = load.workflowRuns.length
    if (await waitForAllEnds(database)) {
      await load.feed(early + LATE_SUBMISSIONS)
      await waitForAllEnds(database)
    }
    await environment.finish()
    const history: WorkflowHistory = {
      workflows: new Map(drawn.map((one) => [one.name, one])),
      lines: load.lines(),
      followers: load.followers,
      ...(await dumpWorkflows(database.storeUrl)),
      dump: await database.dump(),
    }
    return {
      figures: figuresOf(history, new Set(load.workflowRuns.slice(early)), faults),
      violations: [
        ...workflowInvariants(history),
        ...faults.filter(({ kind }) => kind === 'died').map(({ target }) => `${target} died`),
      ],
      tookMs: performance.now() - startedMs,
    }
  } finally {
    await environment.abandon()
    if (!plan.keep) rmSync(dir, { recursive: true, force: true })
  }
}

/** Calls `act` `times` times, evenly spread over the submissions. */
async function spread(
  load: WorkflowLoad,
  { workflowRuns }: WorkflowsPlan,
  times: number,
  act: (index: number) => Promise<void>,
): Promise<void> {
  for (let index = 0; index < times; index += 1) {
    const due = Math.ceil(((index + 1) / (times + 1)) * workflowRuns)
    await waitFor(() => load.workflowRuns.length >= due, {
      what: 'more workflows to come in',
      deadlineMs: 10 * RETRY_DEADLINE_MS,
      intervalMs: 50,
    })
    await act(index)
  }
}

function injectFaults(
  { servers, workers }: GatesEnvironment,
  load: WorkflowLoad,
  plan: WorkflowsPlan,
  faultContext: FaultContext,
): Promise<void> {
  const { seeded } = faultContext
  const isAtWork = () => running(load.lines()).length > 0
  return spread(load, plan, plan.faults, async (index) => {
    // Killing an idle worker tests little.
    await waitFor(isAtWork, { what: 'a step to be under way', deadlineMs: RETRY_DEADLINE_MS })
    const [server, worker] = [seeded.pick(servers), seeded.pick(workers)]
    const kind = index % 4
    if (kind === 0) await killAndReplace(worker, faultContext)
    else if (kind === 2) await freezeFor(worker, PAST_LEASE_TTL_MS, faultContext)
    else if (kind === 3 && servers.length > 1)
      await freezeFor(server, PAST_NODE_TTL_MS, faultContext)
    else await killAndReplace(server, faultContext)
    const count = index + 1
    if (count % 10 === 0 || count === plan.faults) plan.report(`${count} of ${plan.faults} faults`)
  })
}

/** Users submit followers of runs that are about to end, cancel, and retry. */
function cancelAndRetrySome(load: WorkflowLoad, plan: WorkflowsPlan): Promise<void> {
  return spread(load, plan, Math.floor(plan.workflowRuns / 2), async (index) => {
    await load.follow()
    if (index % 8 === 3) await load.cancelOne()
    if (index % 8 === 7) await load.retryOne()
  })
}

/**
 * Whether every run has ended. Waves run one by one and some steps wait for an approval that never comes, so
 * this takes long; while runs begin and end nothing is stuck. The invariants report what remains.
 */
async function waitForAllEnds(database: ChaosDatabase): Promise<boolean> {
  const until = performance.now() + 10 * RETRY_DEADLINE_MS
  for (let left = await database.unfinished(); left > 0;) {
    const before = left
    const hasChanged = async () => (left = await database.unfinished()) !== before
    const what = 'a run to begin or end'
    const isMoving = await waitFor(hasChanged, {
      what,
      deadlineMs: RETRY_DEADLINE_MS,
      intervalMs: 200,
    })
      .then(() => true)
      .catch(() => false)
    if (!isMoving || performance.now() > until) return false
  }
  return true
}

function figuresOf(
  { workflowRuns, steps, lines, followers, dump }: WorkflowHistory,
  lateSubmissions: ReadonlySet<string>,
  faults: readonly { kind: FaultKind; target: string }[],
): WorkflowsFigures {
  const count = (kind: FaultKind, who: string) =>
    faults.filter((fault) => fault.kind === kind && fault.target.startsWith(who)).length
  const states = new Map(dump.runs.map(({ run, state }) => [run, state]))
  const isLost = ({ cause }: { cause: string | null }) => cause === 'lost'
  const late = workflowRuns
    .filter(({ workflow }) => lateSubmissions.has(workflow))
    .map(({ closedMs }) => closedMs)
  return {
    workflowRuns: workflowRuns.length,
    steps: new Set(lines.flatMap(({ run, place }) => (place ? [run] : []))).size,
    skipped: steps.filter(({ state }) => state === 'skipped').length,
    cancelled: workflowRuns.filter(({ workflow }) => states.get(workflow) === 'cancelled').length,
    repeated: workflowRuns.filter(({ retryOf }) => retryOf !== null).length,
    lost: [...dump.attempts, ...dump.runs].filter(isLost).length,
    followers: followers.size,
    followersSkipped: [...followers.keys()].filter((run) => states.get(run) === 'skipped').length,
    serverKills: count('killed', 'server'),
    serverFreezes: count('frozen', 'server'),
    workerKills: count('killed', 'worker'),
    workerFreezes: count('frozen', 'worker'),
    maxClosedMs: Math.max(0, ...late),
  }
}
