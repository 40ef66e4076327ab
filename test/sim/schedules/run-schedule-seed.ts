import { drawScheduleMix, moveSchedules } from './schedule-moves.ts'
import { createScheduleWorld, type ScheduleBug, type ScheduleWorld } from './schedule-world.ts'

export interface ScheduleSeedResult {
  readonly seed: number
  /** Due times with an outcome. */
  readonly times: number
  readonly violations: readonly string[]
}

/** Runs one world: random moves with invariants checked after each, then healing, then every due time is counted. */
export async function runScheduleSeed(
  seed: number,
  moves: number,
  bug?: ScheduleBug,
): Promise<ScheduleSeedResult> {
  const world = createScheduleWorld(seed, bug)
  try {
    world.startNode()
    if (world.seeded.chance(0.7)) world.startNode()
    await world.time.advance(50)
    // Without workers, fired runs wait, so overlapping runs are the normal case.
    const workers = world.seeded.pick([0, 1, 2])
    for (let i = 0; i < workers; i += 1) world.startWorker()
    const mix = drawScheduleMix(world)
    for (let made = 0; made < moves && world.violations.length === 0; made += 1) {
      moveSchedules(world, world.seeded.weighted(mix))
      await world.time.advance(world.seeded.pick([0, 1, 5, 50, 300, 1_000, 3_000, 10_000]))
      world.check()
    }
    if (world.violations.length === 0) await heal(world)
    const count = world.engine.raw.prepare<[], number>('SELECT count(*) FROM occurrence').pluck()
    return { seed, times: count.get() ?? 0, violations: world.violations }
  } finally {
    for (const { actor } of world.nodes) actor.isAlive = false
    for (const actor of world.workers) actor.isAlive = false
    world.close()
  }
}

/** Longer than a node may be frozen or cut off when the faults stop, plus the clock hold. */
const HEAL_MS = 240_000

async function heal(world: ScheduleWorld): Promise<void> {
  if (world.nodes.length === 0) world.startNode()
  await world.time.advance(HEAL_MS)
  world.check(true)
}
