import { systemClock } from '../../../src/worker/clock/system-clock.ts'
import {
  freezeFor,
  killAndReplace,
  PAST_NODE_TTL_MS,
  setClock,
  type FaultContext,
} from '../faults.ts'
import type { ProcessRole } from '../processes.ts'

const HOUR_MS = 3_600_000
const WALL_SHIFTS_MS = [-26 * HOUR_MS, -HOUR_MS, -1_500, 1_500, HOUR_MS, 26 * HOUR_MS]
/** From an ordinary slow answer to a leap that ends every lease promise of the node. */
const LEAPS_MS = [0, 0, 900, 3_000, 20_000]
const PAUSE_MS = 1_500
const FAULTS = ['kill', 'freeze', 'clock'] as const

/**
 * Injects faults into one server until the time is over; the server is up when it resolves. Other servers have
 * their own loop, so all may be down at once.
 */
export async function injectServerFaults(
  role: ProcessRole,
  faultContext: FaultContext,
  { first, isOver, onLeap }: { first: number; isOver(): boolean; onLeap(): void },
): Promise<void> {
  const { seeded } = faultContext
  // Each server starts with another kind of fault, so that all kinds occur.
  let fault = FAULTS[first % FAULTS.length]
  while (!isOver()) {
    await systemClock.sleep(seeded.between(0, PAUSE_MS))
    if (fault === 'kill') await killAndReplace(role, faultContext)
    else if (fault === 'freeze') {
      await freezeFor(role, seeded.between(300, PAST_NODE_TTL_MS), faultContext)
    } else {
      const shift = { wallMs: seeded.pick(WALL_SHIFTS_MS), leapMs: seeded.pick(LEAPS_MS) }
      setClock(role, shift, faultContext)
      if (shift.leapMs > 0) onLeap()
    }
    fault = seeded.pick(FAULTS)
  }
}
