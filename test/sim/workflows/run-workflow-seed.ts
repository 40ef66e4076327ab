import { DEFAULT_CONFIG } from '../../../src/server/cluster/config.ts'
import {
  answerRandomApproval,
  drawWorkflowMix,
  MAX_AWAY_MS,
  moveWorkflows,
  submit,
} from './workflow-moves.ts'
import {
  SIM_WORKFLOW_CALLER,
  createWorkflowWorld,
  type WorkflowBug,
  type WorkflowWorld,
} from './workflow-world.ts'

export interface WorkflowSeedResult {
  readonly seed: number
  readonly workflows: number
  readonly starts: number
  /** Runs that start after others. */
  readonly followers: number
  /** Step outcomes seen: `skipped needs`, `failed expired`, and so on. */
  readonly outcomes: ReadonlySet<string>
  readonly violations: readonly string[]
}

/** Runs one world: random moves with invariants checked after each, then healing, then nothing may be late. */
export async function runWorkflowSeed(
  seed: number,
  moves: number,
  bug?: WorkflowBug,
): Promise<WorkflowSeedResult> {
  const world = createWorkflowWorld(seed, bug)
  const { seeded, time, invariants, truth, violations } = world
  try {
    await begin(world)
    const mix = drawWorkflowMix(world)
    for (let made = 0; made < moves && violations.length === 0; made += 1) {
      moveWorkflows(world, seeded.weighted(mix))
      await time.advance(seeded.pick([0, 1, 5, 20, 100, 500, 3_000]))
      invariants.check()
    }
    if (violations.length === 0) await heal(world)
    if (violations.length === 0) await settle(world)
    const counts = { workflows: invariants.tracker.all.size, starts: truth.starts.length }
    const outcomes = stepOutcomes(world)
    return { seed, ...counts, followers: invariants.followers, outcomes, violations }
  } finally {
    for (const { actor } of [...world.nodes, ...world.workers]) actor.isAlive = false
    world.close()
  }
}

function stepOutcomes({ invariants }: WorkflowWorld): Set<string> {
  const facts = [...invariants.tracker.all.values()].flatMap((tracked) => [
    ...tracked.facts.values(),
  ])
  return new Set(facts.map(({ state, reason }) => `${state} ${reason ?? ''}`.trim()))
}

async function begin(world: WorkflowWorld): Promise<void> {
  const { seeded, time, drawn } = world
  const nodes = seeded.between(1, 3)
  for (let started = 0; started < nodes; started += 1) world.startNode()
  await time.advance(200)
  for (const { name, definition } of drawn) {
    world.ask(({ admin }) => admin.jobs.put(SIM_WORKFLOW_CALLER, name, definition, null))
    await time.advance(200)
  }
  for (let started = 0; started < 2; started += 1) world.startWorker()
  submit(world)
  await time.advance(200)
}

/** Actors that are away when the faults stop come back; nodes may then declare the missing ones dead. */
const HEAL_MS = MAX_AWAY_MS + DEFAULT_CONFIG.nodeTtlMs + DEFAULT_CONFIG.steadyMs + 10_000

async function heal(world: WorkflowWorld): Promise<void> {
  Object.assign(world.messageFaults, { drop: 0, repeat: 0, delay: 0 })
  for (const { link } of world.nodes) link.loseAnswers = 0
  world.startNode()
  world.startWorker()
  for (let waited = 0; waited < HEAL_MS; waited += 5_000) {
    await world.time.advance(5_000)
    world.invariants.check()
  }
}

const NEW_WORKFLOWS = 4
const STEP_MS = 250
const REST_LIMIT_MS = 15 * 60_000

/** Attempts end one by one and a few workflows are added; every possible transition must happen at once. */
async function settle(world: WorkflowWorld): Promise<void> {
  const { seeded, time, invariants, engine, workers, violations } = world
  const open = engine.raw.prepare<[], string>(
    "SELECT 'run ' || id || ', status ' || status FROM run WHERE status < 4 LIMIT 3",
  )
  let submitted = 0
  for (let waited = 0; waited < REST_LIMIT_MS && violations.length === 0; waited += STEP_MS) {
    if (submitted < NEW_WORKFLOWS && seeded.chance(0.3)) {
      submit(world)
      moveWorkflows(world, 'end-at-once')
      submitted += 1
    }
    for (const { actor, running } of workers) {
      if (!actor.isAlive) continue
      for (const attempt of running.values()) {
        if (!seeded.chance(0.3)) continue
        if (seeded.chance(0.85)) attempt.succeed()
        else attempt.fail()
      }
    }
    answerRandomApproval(world, 0.8)
    await time.advance(STEP_MS)
    invariants.checkCalm()
    if (submitted === NEW_WORKFLOWS && open.get() === undefined) return
  }
  for (const detail of open.pluck().all()) violations.push(`liveness: never ended: ${detail}`)
}
