import type { Coverage } from './coverage.ts'
import { drawMix, move } from './moves.ts'
import type { PlantedBug } from './planted-bugs.ts'
import { createSimWorld, type SimWorld } from './sim-world.ts'

export interface SeedResult {
  readonly seed: number
  readonly moves: number
  readonly runs: number
  readonly simulatedMs: number
  /** Empty when every invariant held. */
  readonly violations: readonly string[]
}

/** Runs one world: random moves with a safety check after each, then healing, then a liveness check. */
export async function runSeed(
  seed: number,
  moves: number,
  coverage: Coverage,
  bug?: PlantedBug,
  isHostile?: boolean,
): Promise<SeedResult> {
  const world = createSimWorld(seed, coverage, bug, isHostile)
  try {
    const nodes = world.seeded.between(1, 3)
    for (let i = 0; i < nodes; i += 1) world.startNode()
    for (let i = 0; i < 2; i += 1) world.startWorker()
    await world.time.advance(50)
    const mix = drawMix(world)
    let made = 0
    while (made < moves && world.truth.violations.length === 0) {
      move(world, world.seeded.weighted(mix))
      world.hostile?.act()
      await world.time.advance(world.seeded.pick([0, 1, 5, 20, 100, 500, 3_000]))
      world.assertSafe()
      made += 1
    }
    if (world.truth.violations.length === 0) await heal(world)
    return {
      seed,
      moves: made,
      runs: world.truth.submissions.size,
      simulatedMs: world.time.nowMs,
      violations: world.truth.violations,
    }
  } finally {
    world.close()
  }
}

const HEAL_LIMIT_MS = 15 * 60_000

/** Stops new faults, lets the old ones expire and finishes every attempt: no run may remain open. */
export async function heal(world: SimWorld): Promise<void> {
  const { time, truth } = world
  world.isHealing = true
  Object.assign(world.messageFaults, { drop: 0, repeat: 0, delay: 0 })
  world.cuts.clear()
  if (!world.nodes.some((node) => node.actor.isAlive)) world.startNode()
  // A worker that can run every job.
  world.startWorker({ slots: 4, queues: ['heavy', 'default'] })
  const open = world.engine.raw.prepare<[], { id: number; status: number }>(
    'SELECT id, status FROM run WHERE status < 4 LIMIT 3',
  )
  for (let waited = 0; waited < HEAL_LIMIT_MS && truth.violations.length === 0; waited += 1_000) {
    for (const worker of world.workers) {
      if (worker.actor.isAlive) for (const attempt of worker.running.values()) attempt.succeed()
    }
    await time.advance(1_000)
    world.assertSafe()
    if (waited > 20_000 && open.all().length === 0) return
  }
  for (const { id, status } of open.all()) {
    truth.violate('liveness: a run never ended', `run ${id}, status ${status}`)
  }
}
