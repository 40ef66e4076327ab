import { mkdirSync, rmSync } from 'node:fs'
import type { WireWhy } from '../../../src/core/wire/views.ts'
import { createSeeded, type Seeded } from '../../sim/seeded.ts'
import { askWhy } from '../../support/fetch-why.ts'
import { createServerHome } from '../../support/server-home.ts'
import { waitFor } from '../../support/wait-for.ts'
import { TOKEN } from '../server-processes.ts'
import type { Database } from '../databases.ts'
import type { Dump, FaultKind } from '../history.ts'
import type { Plan } from '../scenario.ts'
import { askAround, cancelSome, type Scene, torment } from './gate-actions.ts'
import { crowdLaws } from './gate-history-invariants.ts'
import { type Crowd, gatherCrowd } from './gate-workload.ts'
import { drawErrand, newcomer } from './run-spec.ts'
import { type GatesStage, openGatesStage } from './gates-environment.ts'
import { STUCK_MS } from './retry-until-answered.ts'
import { quietLaws } from './idle-invariants.ts'
import { doubtsAbout } from './why-errors.ts'

/** A crowd of runs at gates with one place each, while servers and workers are killed around them. */
export interface GatesPlan extends Plan {
  readonly runs: number
  readonly keys: number
  readonly servers: number
  database(dir: string): Promise<Database>
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
  /** Processes that were told to stop and said so. */
  readonly stopped: number
  /** How often why was asked while everything moved, and how often the answer was a key. */
  readonly asked: number
  readonly askedAtGates: number
  readonly serverKills: number
  readonly workerKills: number
  readonly workerFreezes: number
}

const WORKERS = 2
/** What comes in before there is any worker. */
const EARLY = 0.1

export async function playGates(plan: GatesPlan): Promise<GatesResult> {
  const startedMs = performance.now()
  const dir = plan.keep ?? createServerHome('punctual-gates-')
  mkdirSync(dir, { recursive: true })
  const seeded = createSeeded(plan.seed)
  const faults: { kind: FaultKind; target: string }[] = []
  const note = (kind: FaultKind, target: string) => void faults.push({ kind, target })
  const database = await plan.database(dir)
  const stage = await openGatesStage({
    ...{ dir, database, servers: plan.servers, workers: WORKERS },
    // So few that all of them are needed, and nobody is killed in its idleness.
    slots: Math.ceil(plan.keys / WORKERS),
    onDeath: (processName) => note('died', processName),
  })
  try {
    const crowd = gatherCrowd(stage, createSeeded(plan.seed + 1), plan.keys)
    const quiet = await gatherQuietly(stage, crowd, seeded, plan)
    await Promise.all(stage.workers.map((role) => role.start()))
    const scene: Scene = { stage, crowd, plan }
    const [, , , answers] = await allOf([
      crowd.feed(plan.runs),
      torment(scene, { seeded: createSeeded(plan.seed + 2), note }),
      cancelSome(scene),
      askAround(scene, createSeeded(plan.seed + 3)),
    ])
    if (await comesToRest(database)) {
      // Whatever leaked a place would keep its key shut now.
      await crowd.submit(crowd.keys.flatMap((key) => [newcomer(key), newcomer(key)]))
      await comesToRest(database)
    }
    await stage.finish()
    const dump = await database.dump()
    const { errands, doomed } = crowd
    const violations = [
      ...quiet,
      ...answers.flatMap((why) => doubtsAbout(why, errands)),
      ...crowdLaws({ errands, doomed, lines: stage.truth.lines(), dump }),
      ...faults.filter(({ kind }) => kind === 'died').map(({ target }) => `${target} died`),
    ]
    const figures = {
      ...figuresOf(stage, dump),
      ...faultFigures(faults),
      asked: answers.length,
      askedAtGates: answers.filter(({ code }) => code === 'key_taken').length,
    }
    return { figures, violations, tookMs: performance.now() - startedMs }
  } finally {
    await stage.abandon()
    if (!plan.keep) rmSync(dir, { recursive: true, force: true })
  }
}

/** Before anybody serves them: one passes each gate, and the others can say whom they wait for. */
async function gatherQuietly(
  { urls, client }: GatesStage,
  crowd: Crowd,
  seeded: Seeded,
  { runs, keys }: GatesPlan,
): Promise<string[]> {
  const early = Math.round(Math.max(runs * EARLY, keys * 2))
  await crowd.submit(Array.from({ length: early }, () => drawErrand(seeded, crowd.keys)))
  const { runs: ready } = await client.listRuns({ state: 'ready', limit: 500 })
  const answers: WireWhy[] = []
  const [url] = urls as [string]
  const asked = [...crowd.errands.keys()].slice(0, keys * 3)
  for (const run of asked) answers.push(await askWhy(url, { token: TOKEN }, run))
  return quietLaws({ errands: crowd.errands, ready: ready.map(({ id }) => id), answers })
}

/** All of them come to their end before the first failure is told: nobody acts on an empty stage. */
async function allOf<T extends unknown[]>(parts: { [I in keyof T]: Promise<T[I]> }): Promise<T> {
  await Promise.allSettled(parts)
  return Promise.all(parts)
}

/** Whether every run has ended. What does not come to rest is the laws' to report. */
function comesToRest(database: Database): Promise<boolean> {
  return waitFor(async () => (await database.unfinished()) === 0, {
    ...{ what: 'every run to end', deadlineMs: STUCK_MS, intervalMs: 200 },
  }).catch(() => false)
}

function figuresOf({ truth }: GatesStage, { runs, attempts }: Dump) {
  const lost = ({ cause }: { cause: string | null }) => cause === 'lost'
  return {
    runs: runs.length,
    attempts: truth.begun(),
    retried: attempts.filter((attempt) => !lost(attempt)).length,
    lost: [...attempts, ...runs].filter(lost).length,
    cancelled: runs.filter(({ state }) => state === 'cancelled').length,
    stopped: truth.lines().filter(({ what }) => what === 'told').length,
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
