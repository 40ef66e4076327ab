import { mkdirSync, rmSync } from 'node:fs'
import type { WireWhy } from '../../../src/core/wire/views.ts'
import { createSeeded, type Seeded } from '../../sim/seeded.ts'
import { askWhy } from '../../support/fetch-why.ts'
import { createServerHome } from '../../support/server-home.ts'
import { waitFor } from '../../support/wait-for.ts'
import { CHAOS_TOKEN } from '../server-processes.ts'
import type { ChaosDatabase } from '../databases.ts'
import type { Dump, FaultKind } from '../history.ts'
import type { ChaosPlan } from '../scenario.ts'
import { sampleWhy, cancelSome, type GatesContext, injectGateFaults } from './gate-actions.ts'
import { gateHistoryInvariants } from './gate-history-invariants.ts'
import { type GateWorkload, createGateWorkload } from './gate-workload.ts'
import { drawRunSpec, quickRun } from './run-spec.ts'
import { type GatesEnvironment, openGatesEnvironment } from './gates-environment.ts'
import { RETRY_DEADLINE_MS } from './retry-until-answered.ts'
import { idleInvariants } from './idle-invariants.ts'
import { findWhyErrors } from './why-errors.ts'

/** Runs at gates with one slot each, while servers and workers are killed. */
export interface GatesPlan extends ChaosPlan {
  readonly runs: number
  readonly keys: number
  readonly servers: number
  database(dir: string): Promise<ChaosDatabase>
}

export interface GatesResult {
  readonly figures: GatesFigures
  readonly violations: readonly string[]
  readonly tookMs: number
}

export interface GatesFigures {
  readonly runs: number
  readonly attempts: number
  readonly retried: number
  readonly lost: number
  readonly cancelled: number
  /** Processes that got a stop signal and recorded it. */
  readonly stopped: number
  /** How often `why` was asked during the load, and how often the answer was a concurrency key. */
  readonly asked: number
  readonly askedAtGates: number
  readonly serverKills: number
  readonly workerKills: number
  readonly workerFreezes: number
}

const WORKERS = 2
/** Share of the runs submitted before any worker starts. */
const EARLY = 0.1

export async function runGatesScenario(plan: GatesPlan): Promise<GatesResult> {
  const startedMs = performance.now()
  const dir = plan.keep ?? createServerHome('punctual-gates-')
  mkdirSync(dir, { recursive: true })
  const seeded = createSeeded(plan.seed)
  const faults: { kind: FaultKind; target: string }[] = []
  const note = (kind: FaultKind, target: string) => void faults.push({ kind, target })
  const database = await plan.database(dir)
  const environment = await openGatesEnvironment({
    dir,
    database,
    servers: plan.servers,
    workers: WORKERS,
    // So few slots that all are needed and no worker is killed while idle.
    slots: Math.ceil(plan.keys / WORKERS),
    onDeath: (processName) => note('died', processName),
  })
  try {
    const load = createGateWorkload(environment, createSeeded(plan.seed + 1), plan.keys)
    const idle = await submitAndCheckIdle(environment, load, seeded, plan)
    await Promise.all(environment.workers.map((role) => role.start()))
    const context: GatesContext = { environment, load, plan }
    const [, , , answers] = await allOf([
      load.feed(plan.runs),
      injectGateFaults(context, { seeded: createSeeded(plan.seed + 2), note }),
      cancelSome(context),
      sampleWhy(context, createSeeded(plan.seed + 3)),
    ])
    if (await waitForAllEnds(database)) {
      // A leaked slot would block its key for these runs.
      await load.submit(load.keys.flatMap((key) => [quickRun(key), quickRun(key)]))
      await waitForAllEnds(database)
    }
    await environment.finish()
    const dump = await database.dump()
    const { runSpecs, cancelRequested } = load
    const violations = [
      ...idle,
      ...answers.flatMap((why) => findWhyErrors(why, runSpecs)),
      ...gateHistoryInvariants({
        runSpecs,
        cancelRequested,
        lines: environment.traceLog.lines(),
        dump,
      }),
      ...faults.filter(({ kind }) => kind === 'died').map(({ target }) => `${target} died`),
    ]
    const figures = {
      ...figuresOf(environment, dump),
      ...faultFigures(faults),
      asked: answers.length,
      askedAtGates: answers.filter(({ code }) => code === 'key_taken').length,
    }
    return { figures, violations, tookMs: performance.now() - startedMs }
  } finally {
    await environment.abandon()
    if (!plan.keep) rmSync(dir, { recursive: true, force: true })
  }
}

/** Without workers: one run passes each gate, and the others must name the run they wait for. */
async function submitAndCheckIdle(
  { urls, client }: GatesEnvironment,
  load: GateWorkload,
  seeded: Seeded,
  { runs, keys }: GatesPlan,
): Promise<string[]> {
  const early = Math.round(Math.max(runs * EARLY, keys * 2))
  await load.submit(Array.from({ length: early }, () => drawRunSpec(seeded, load.keys)))
  const { runs: ready } = await client.listRuns({ state: 'ready', limit: 500 })
  const answers: WireWhy[] = []
  const [url] = urls as [string]
  const asked = [...load.runSpecs.keys()].slice(0, keys * 3)
  for (const run of asked) answers.push(await askWhy(url, { token: CHAOS_TOKEN }, run))
  return idleInvariants({ runSpecs: load.runSpecs, ready: ready.map(({ id }) => id), answers })
}

/** Waits for all parts before it throws the first failure, so that no part acts on a closed environment. */
async function allOf<T extends unknown[]>(parts: { [I in keyof T]: Promise<T[I]> }): Promise<T> {
  await Promise.allSettled(parts)
  return Promise.all(parts)
}

/** Whether every run has ended. The invariants report runs that have not. */
function waitForAllEnds(database: ChaosDatabase): Promise<boolean> {
  return waitFor(async () => (await database.unfinished()) === 0, {
    what: 'every run to end',
    deadlineMs: RETRY_DEADLINE_MS,
    intervalMs: 200,
  }).catch(() => false)
}

function figuresOf({ traceLog }: GatesEnvironment, { runs, attempts }: Dump) {
  const lost = ({ cause }: { cause: string | null }) => cause === 'lost'
  return {
    runs: runs.length,
    attempts: traceLog.begun(),
    retried: attempts.filter((attempt) => !lost(attempt)).length,
    lost: [...attempts, ...runs].filter(lost).length,
    cancelled: runs.filter(({ state }) => state === 'cancelled').length,
    stopped: traceLog.lines().filter(({ what }) => what === 'signalled').length,
  }
}

function faultFigures(faults: readonly { kind: FaultKind; target: string }[]) {
  const count = (kind: FaultKind, who: string) =>
    faults.filter((fault) => fault.kind === kind && fault.target.startsWith(who)).length
  return {
    serverKills: count('killed', 'server'),
    workerKills: count('killed', 'worker'),
    workerFreezes: count('frozen', 'worker'),
  }
}
