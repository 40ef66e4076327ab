import { systemClock } from '../../../src/worker/clock/system-clock.ts'
import { freezeFor, killAndReplace, PAST_NODE_TTL_MS, setClock, type Striker } from '../faults.ts'
import type { Role } from '../processes.ts'

const HOUR_MS = 3_600_000
const WALL_SHIFTS_MS = [-26 * HOUR_MS, -HOUR_MS, -1_500, 1_500, HOUR_MS, 26 * HOUR_MS]
/** From what passes for a slow answer to what ends every promise the node has made. */
const LEAPS_MS = [0, 0, 900, 3_000, 20_000]
const BREATH_MS = 1_500
const BLOWS = ['kill', 'freeze', 'clock'] as const

/**
 * One server is struck again and again until the time is up, and is well when it resolves. Whoever
 * torments the others knows nothing of it: all of them may be away at once.
 */
export async function torment(
  role: Role,
  striker: Striker,
  { first, isOver, onLeap }: { first: number; isOver(): boolean; onLeap(): void },
): Promise<void> {
  const { seeded } = striker
  // The first blow is another one for each server, so that none is left to chance.
  let blow = BLOWS[first % BLOWS.length]
  while (!isOver()) {
    await systemClock.sleep(seeded.between(0, BREATH_MS))
    if (blow === 'kill') await killAndReplace(role, striker)
    else if (blow === 'freeze') {
      await freezeFor(role, seeded.between(300, PAST_NODE_TTL_MS), striker)
    } else {
      const shift = { wallMs: seeded.pick(WALL_SHIFTS_MS), leapMs: seeded.pick(LEAPS_MS) }
      setClock(role, shift, striker)
      if (shift.leapMs > 0) onLeap()
    }
    blow = seeded.pick(BLOWS)
  }
}
