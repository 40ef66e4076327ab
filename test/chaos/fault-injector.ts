import { systemClock } from '../../src/worker/clock/system-clock.ts'
import { waitFor } from '../support/wait-for.ts'
import { freezeFor, killAndReplace } from './faults.ts'
import type { Role } from './processes.ts'
import type { Stage } from './environment.ts'

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

const ANSWERS = 5
const BACK_MS = 60_000
const SETTLE_MS = 400

export function createNemesis(stage: Stage): Nemesis {
  const { seeded, load, progress } = stage
  const pause = (most: number) => systemClock.sleep(seeded.between(0, most))
  let beside: Promise<void> | undefined
  return {
    kill: (role) => killAndReplace(role, stage),
    freeze: (role, ms) => freezeFor(role, ms, stage),

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
