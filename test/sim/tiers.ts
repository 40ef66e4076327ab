import { createCoverage } from './coverage.ts'
import type { PlantedBug } from './planted-bugs.ts'
import { heal, type SeedResult } from './run-seed.ts'
import { createSimWorld, type SimWorld } from './sim-world.ts'

const LIGHT = ['default']
const STRONG = ['heavy', 'default']
/** Without faults, every node knows of every change within this. */
const QUIET_MS = 3_000

/**
 * A world of two queues and workers of two strengths, with longer queues than faults leave. The placement
 * invariants hold at every step, and no slot stays free while a run waits for it (S2.6).
 */
export async function runTiersSeed(
  seed: number,
  moves: number,
  bug?: PlantedBug,
): Promise<SeedResult> {
  const world = createSimWorld(seed, createCoverage(), bug)
  const { seeded, time, truth } = world
  try {
    const nodes = seeded.between(1, 2)
    for (let i = 0; i < nodes; i += 1) world.startNode()
    for (const queues of [LIGHT, LIGHT, STRONG, STRONG]) {
      world.startWorker({ slots: seeded.between(1, 2), queues })
    }
    await time.advance(QUIET_MS)
    const mayCrash = seeded.chance(0.5)
    let made = 0
    while (made < moves && truth.violations.length === 0) {
      move(world, mayCrash)
      await time.advance(seeded.pick([0, 5, 20, 100, 500, QUIET_MS]))
      world.assertSafe()
      if (!mayCrash && made % 5 === 0) await checkNoIdleSlots(world)
      made += 1
    }
    if (truth.violations.length === 0) await heal(world)
    return {
      seed,
      moves: made,
      runs: truth.submissions.size,
      simulatedMs: time.nowMs,
      violations: truth.violations,
    }
  } finally {
    world.close()
  }
}

function move(world: SimWorld, mayCrash: boolean): void {
  const { seeded } = world
  const alive = world.workers.filter(({ actor }) => actor.isAlive)
  const running = alive.flatMap((worker) => [...worker.running.values()])
  if (mayCrash && seeded.chance(0.03)) {
    const victim = seeded.pick(alive)
    victim.actor.isAlive = false
    return world.startWorker(victim.offer)
  }
  if (seeded.chance(0.2)) {
    const queue = seeded.chance(0.6) ? {} : { queue: 'heavy' }
    for (let i = seeded.between(1, 6); i > 0; i -= 1) {
      world.submit({ job: 'plain-1', ...queue, priority: seeded.pick([0, 0, 0, 5]) })
    }
    return
  }
  if (running.length > 0) seeded.pick(running).succeed()
}

/** When nothing moves any more, every slot that a waiting run could use must be taken. */
async function checkNoIdleSlots(world: SimWorld): Promise<void> {
  await world.time.advance(QUIET_MS)
  world.assertSafe()
  const ready = world.engine.raw
    .prepare<[], string>(
      'SELECT DISTINCT lane.queue FROM run JOIN lane ON lane.id = run.lane_id WHERE run.status = 0',
    )
    .pluck()
    .all()
  for (const { actor, offer, running } of world.workers) {
    if (!actor.isAlive || running.size >= offer.slots) continue
    const waiting = ready.filter((queue) => offer.queues.includes(queue))
    if (waiting.length === 0) continue
    const detail = `${actor.name} has a free slot, and a run waits in ${waiting.join(', ')}`
    world.truth.violate('S2.6 a slot stayed free', detail)
  }
}
