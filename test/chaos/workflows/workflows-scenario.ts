import { mkdirSync, rmSync } from 'node:fs'
import { createSeeded } from '../../sim/seeded.ts'
import { createServerHome } from '../../support/server-home.ts'
import { waitFor } from '../../support/wait-for.ts'
import {
  freezeFor,
  killAndReplace,
  PAST_LEASE_TTL_MS,
  PAST_NODE_TTL_MS,
  type Striker,
} from '../faults.ts'
import type { Database } from '../databases.ts'
import { type GatesStage, openGatesStage } from '../gates/gates-environment.ts'
import { STUCK_MS } from '../gates/retry-until-answered.ts'
import type { FaultKind } from '../history.ts'
import type { Plan } from '../scenario.ts'
import { drawDefinitions } from './draw-definitions.ts'
import { type FlowCrowd, gatherFlows } from './workflow-load.ts'
import { dumpFlows } from './workflow-dump.ts'
import { underWay } from './step-trace-lines.ts'
import { type WorkflowHistory, workflowLaws } from './workflow-invariants.ts'

/** Workflows whose steps are processes, while servers and workers are killed and frozen around them. */
export interface WorkflowsPlan extends Plan {
  readonly flows: number
  readonly servers: number
  database(dir: string): Promise<Database>
}

export interface WorkflowsResult {
  readonly figures: WorkflowsFigures
  readonly violations: readonly string[]
  readonly tookMs: number
}

export interface WorkflowsFigures {
  readonly flows: number
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
  /** The longest a flow took to end after its last step, once all was well. */
  readonly closedMostMs: number
}

const WORKERS = 2
const SLOTS = 8
const WORKFLOWS = 6
/** Submitted when nothing goes wrong any more. */
const LATECOMERS = 8

export async function playWorkflows(plan: WorkflowsPlan): Promise<WorkflowsResult> {
  const startedMs = performance.now()
  const dir = plan.keep ?? createServerHome('punctual-workflows-')
  mkdirSync(dir, { recursive: true })
  const faults: { kind: FaultKind; target: string }[] = []
  const note = (kind: FaultKind, target: string) => void faults.push({ kind, target })
  const database = await plan.database(dir)
  const stage = await openGatesStage({
    ...{ dir, database, servers: plan.servers, workers: WORKERS, slots: SLOTS },
    onDeath: (processName) => note('died', processName),
  })
  try {
    const drawn = drawDefinitions(createSeeded(plan.seed), WORKFLOWS, stage.traces.truthPath)
    const crowd = gatherFlows(stage, database, drawn, createSeeded(plan.seed + 1))
    await crowd.define()
    await Promise.all(stage.workers.map((role) => role.start()))
    const striker = { seeded: createSeeded(plan.seed + 2), note }
    const acts = [crowd.feed(plan.flows), torment(stage, crowd, plan, striker), meddle(crowd, plan)]
    await Promise.allSettled(acts)
    await Promise.all(acts)
    const early = crowd.flows.length
    if (await comesToRest(database)) {
      await crowd.feed(early + LATECOMERS)
      await comesToRest(database)
    }
    await stage.finish()
    const history: WorkflowHistory = {
      workflows: new Map(drawn.map((one) => [one.name, one])),
      ...{ lines: crowd.lines(), followers: crowd.followers },
      ...(await dumpFlows(database.storeUrl)),
      dump: await database.dump(),
    }
    return {
      figures: figuresOf(history, new Set(crowd.flows.slice(early)), faults),
      violations: [
        ...workflowLaws(history),
        ...faults.filter(({ kind }) => kind === 'died').map(({ target }) => `${target} died`),
      ],
      tookMs: performance.now() - startedMs,
    }
  } finally {
    await stage.abandon()
    if (!plan.keep) rmSync(dir, { recursive: true, force: true })
  }
}

/** Calls back so many times, evenly while workflows come in. */
async function spread(
  crowd: FlowCrowd,
  { flows }: WorkflowsPlan,
  times: number,
  act: (index: number) => Promise<void>,
): Promise<void> {
  for (let index = 0; index < times; index += 1) {
    const due = Math.ceil(((index + 1) / (times + 1)) * flows)
    await waitFor(() => crowd.flows.length >= due, {
      ...{ what: 'more workflows to come in', deadlineMs: 10 * STUCK_MS, intervalMs: 50 },
    })
    await act(index)
  }
}

function torment(
  { servers, workers }: GatesStage,
  crowd: FlowCrowd,
  plan: WorkflowsPlan,
  striker: Striker,
): Promise<void> {
  const { seeded } = striker
  const isAtWork = () => underWay(crowd.lines()).length > 0
  return spread(crowd, plan, plan.faults, async (index) => {
    // Who is killed in idleness proves little.
    await waitFor(isAtWork, { what: 'a step to be under way', deadlineMs: STUCK_MS })
    const [server, worker] = [seeded.pick(servers), seeded.pick(workers)]
    const kind = index % 4
    if (kind === 0) await killAndReplace(worker, striker)
    else if (kind === 2) await freezeFor(worker, PAST_LEASE_TTL_MS, striker)
    else if (kind === 3 && servers.length > 1) await freezeFor(server, PAST_NODE_TTL_MS, striker)
    else await killAndReplace(server, striker)
    const count = index + 1
    if (count % 10 === 0 || count === plan.faults) plan.say(`${count} of ${plan.faults} faults`)
  })
}

/** People submit runs after those that are just about to end, cancel, and repeat. */
function meddle(crowd: FlowCrowd, plan: WorkflowsPlan): Promise<void> {
  return spread(crowd, plan, Math.floor(plan.flows / 2), async (index) => {
    await crowd.follow()
    if (index % 8 === 3) await crowd.cancelOne()
    if (index % 8 === 7) await crowd.retryOne()
  })
}

/**
 * Whether every run has ended. Waves go one by one, and some wait for an approval that nobody gives: many of them
 * take their time, and as long as runs come and go nobody is stuck. What is, is the laws' to report.
 */
async function comesToRest(database: Database): Promise<boolean> {
  const until = performance.now() + 10 * STUCK_MS
  for (let left = await database.unfinished(); left > 0;) {
    const before = left
    const hasChanged = async () => (left = await database.unfinished()) !== before
    const what = 'a run to begin or end'
    const isMoving = await waitFor(hasChanged, { what, deadlineMs: STUCK_MS, intervalMs: 200 })
      .then(() => true)
      .catch(() => false)
    if (!isMoving || performance.now() > until) return false
  }
  return true
}

function figuresOf(
  { flows, steps, lines, followers, dump }: WorkflowHistory,
  latecomers: ReadonlySet<string>,
  faults: readonly { kind: FaultKind; target: string }[],
): WorkflowsFigures {
  const count = (kind: FaultKind, who: string) =>
    faults.filter((fault) => fault.kind === kind && fault.target.startsWith(who)).length
  const states = new Map(dump.runs.map(({ run, state }) => [run, state]))
  const isLost = ({ cause }: { cause: string | null }) => cause === 'lost'
  const late = flows.filter(({ flow }) => latecomers.has(flow)).map(({ closedMs }) => closedMs)
  return {
    flows: flows.length,
    steps: new Set(lines.flatMap(({ run, place }) => (place ? [run] : []))).size,
    skipped: steps.filter(({ state }) => state === 'skipped').length,
    cancelled: flows.filter(({ flow }) => states.get(flow) === 'cancelled').length,
    repeated: flows.filter(({ retryOf }) => retryOf !== null).length,
    lost: [...dump.attempts, ...dump.runs].filter(isLost).length,
    followers: followers.size,
    followersSkipped: [...followers.keys()].filter((run) => states.get(run) === 'skipped').length,
    serverKills: count('killed', 'server'),
    serverFreezes: count('frozen', 'server'),
    workerKills: count('killed', 'worker'),
    workerFreezes: count('frozen', 'worker'),
    closedMostMs: Math.max(0, ...late),
  }
}
