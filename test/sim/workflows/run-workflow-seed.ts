import { DEFAULT_CONFIG } from '../../../src/server/cluster/config.ts'
import { answer, drawFlowMix, MOST_AWAY_MS, moveFlows, submit } from './workflow-moves.ts'
import { BY, createWorkflowWorld, type FlowBug, type WorkflowWorld } from './workflow-world.ts'

export interface WorkflowResult {
  readonly seed: number
  readonly flows: number
  readonly starts: number
  /** Runs that were to start after others. */
  readonly followers: number
  /** What became of steps: `skipped needs`, `failed expired`, and so on. */
  readonly fates: ReadonlySet<string>
  readonly violations: readonly string[]
}

/** One world from birth to rest: random moves with laws after each, then healing, then nothing may be late. */
export async function runWorkflowSeed(
  seed: number,
  moves: number,
  bug?: FlowBug,
): Promise<WorkflowResult> {
  const world = createWorkflowWorld(seed, bug)
  const { seeded, time, laws, truth, violations } = world
  try {
    await begin(world)
    const mix = drawFlowMix(world)
    for (let made = 0; made < moves && violations.length === 0; made += 1) {
      moveFlows(world, seeded.weighted(mix))
      await time.advance(seeded.pick([0, 1, 5, 20, 100, 500, 3_000]))
      laws.check()
    }
    if (violations.length === 0) await heal(world)
    if (violations.length === 0) await rest(world)
    const counts = { flows: laws.book.all.size, starts: truth.starts.length }
    const fates = fatesIn(world)
    return { seed, ...counts, followers: laws.followers, fates, violations }
  } finally {
    for (const { actor } of [...world.nodes, ...world.workers]) actor.isAlive = false
    world.close()
  }
}

function fatesIn({ laws }: WorkflowWorld): Set<string> {
  const facts = [...laws.book.all.values()].flatMap((story) => [...story.facts.values()])
  return new Set(facts.map(({ state, reason }) => `${state} ${reason ?? ''}`.trim()))
}

async function begin(world: WorkflowWorld): Promise<void> {
  const { seeded, time, drawn } = world
  const nodes = seeded.between(1, 3)
  for (let started = 0; started < nodes; started += 1) world.startNode()
  await time.advance(200)
  for (const { name, definition } of drawn) {
    world.ask(({ admin }) => admin.jobs.put(BY, name, definition, null))
    await time.advance(200)
  }
  for (let started = 0; started < 2; started += 1) world.startWorker()
  submit(world)
  await time.advance(200)
}

/** Whoever is away when the faults stop comes back; others dare to judge who does not. */
const HEAL_MS = MOST_AWAY_MS + DEFAULT_CONFIG.nodeTtlMs + DEFAULT_CONFIG.steadyMs + 10_000

async function heal(world: WorkflowWorld): Promise<void> {
  Object.assign(world.weather, { drop: 0, repeat: 0, delay: 0 })
  for (const { link } of world.nodes) link.loseAnswers = 0
  world.startNode()
  world.startWorker()
  for (let waited = 0; waited < HEAL_MS; waited += 5_000) {
    await world.time.advance(5_000)
    world.laws.check()
  }
}

const NEW_FLOWS = 4
const STEP_MS = 250
const REST_LIMIT_MS = 15 * 60_000

/** Work comes to its end bit by bit, a little comes in, and whatever can go on does so at once. */
async function rest(world: WorkflowWorld): Promise<void> {
  const { seeded, time, laws, engine, workers, violations } = world
  const open = engine.raw.prepare<[], string>(
    "SELECT 'run ' || id || ', status ' || status FROM run WHERE status < 4 LIMIT 3",
  )
  let submitted = 0
  for (let waited = 0; waited < REST_LIMIT_MS && violations.length === 0; waited += STEP_MS) {
    if (submitted < NEW_FLOWS && seeded.chance(0.3)) {
      submit(world)
      moveFlows(world, 'end-at-once')
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
    answer(world, 0.8)
    await time.advance(STEP_MS)
    laws.checkCalm()
    if (submitted === NEW_FLOWS && open.get() === undefined) return
  }
  for (const detail of open.pluck().all()) violations.push(`liveness: never ended: ${detail}`)
}
