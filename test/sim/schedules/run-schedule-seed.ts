import { drawTimeMix, moveInTime } from './schedule-moves.ts'
import { createTimeWorld, type TimeBug, type TimeWorld } from './schedule-world.ts'

export interface TimeResult {
  readonly seed: number
  /** Times that were given a fate. */
  readonly times: number
  readonly violations: readonly string[]
}

/** One world from birth to rest: random moves with laws after each, then healing, then every time is counted. */
export async function runTimeSeed(seed: number, moves: number, bug?: TimeBug): Promise<TimeResult> {
  const world = createTimeWorld(seed, bug)
  try {
    world.startNode()
    if (world.seeded.chance(0.7)) world.startNode()
    await world.time.advance(50)
    // Without workers what fires waits, and runs that overlap are the rule.
    const workers = world.seeded.pick([0, 1, 2])
    for (let i = 0; i < workers; i += 1) world.startWorker()
    const mix = drawTimeMix(world)
    for (let made = 0; made < moves && world.violations.length === 0; made += 1) {
      moveInTime(world, world.seeded.weighted(mix))
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

/** The longest a node may be frozen or cut off when the faults stop, and then some. */
const HEAL_MS = 180_000

async function heal(world: TimeWorld): Promise<void> {
  if (world.nodes.length === 0) world.startNode()
  await world.time.advance(HEAL_MS)
  world.check(true)
}
