import { systemClock } from '../../src/worker/system-clock.ts'
import { waitFor } from '../support/wait-for.ts'
import { SHORT_TIMES } from './short-times.ts'
import type { Role, Stage } from './stage.ts'

/** Does one bad thing at a time, under load, and undoes it. */
export interface Nemesis {
  /** kill -9, a moment of absence, and a new start; sometimes more than one. */
  kill(role: Role): Promise<void>
  /** SIGSTOP for longer than its node row or lease lives, then SIGCONT. */
  freeze(role: Role, ms: number): Promise<void>
  /** Begins something that goes on beside the rest, unless such a thing is still going on. */
  meanwhile(disturb: () => Promise<void>): void
  /** Waits until there is work again, and then a little longer: each fault meets another moment. */
  settle(): Promise<void>
  /** Waits until everything that was begun has been mended. */
  relent(): Promise<void>
}

/** Longer than any other node waits before it declares a silent one dead. */
export const PAST_NODE_TTL_MS = SHORT_TIMES.nodeTtlMs + 1_500
export const PAST_LEASE_TTL_MS = SHORT_TIMES.leaseTtlMs + SHORT_TIMES.reapMarginMs + 1_000

const ANSWERS = 5
const BACK_MS = 60_000
const SETTLE_MS = 400
const ABSENCE_MS = 150
/** How often the heir is killed as well, while it starts: recovery must survive its own interruption. */
const STILLBORN = 0.15
const STARTING_MS = 700

export function createNemesis({ seeded, load, note, progress }: Stage): Nemesis {
  const pause = (most: number) => systemClock.sleep(seeded.between(0, most))
  let beside: Promise<void> | undefined
  return {
    async kill(role) {
      const process = role.current()
      note('killed', process.name)
      await process.kill()
      await pause(ABSENCE_MS)
      if (seeded.chance(STILLBORN)) {
        const heir = role.begin()
        await pause(STARTING_MS)
        note('killed', heir.name)
        await heir.kill()
      }
      await role.start()
    },

    async freeze(role, ms) {
      const process = role.current()
      note('frozen', process.name)
      process.freeze()
      await systemClock.sleep(ms)
      process.thaw()
      note('thawed', process.name)
    },

    meanwhile(disturb) {
      beside ??= disturb().finally(() => (beside = undefined))
      // It is awaited in the end; until then its failure is nobody's.
      beside.catch(() => {})
    },

    async settle() {
      const answered = load.acknowledged()
      const done = progress()
      await waitFor(() => load.acknowledged() >= answered + ANSWERS && progress() > done, {
        what: 'the load to be answered, and worked on',
        deadlineMs: BACK_MS,
      })
      await pause(SETTLE_MS)
    },

    async relent() {
      await beside
    },
  }
}
