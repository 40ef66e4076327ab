import { systemClock } from '../../src/worker/clock/system-clock.ts'
import { waitFor } from '../support/wait-for.ts'
import { freezeFor, killAndReplace } from './faults.ts'
import type { ProcessRole } from './processes.ts'
import type { ChaosEnvironment } from './environment.ts'

/** Injects one fault at a time under load, and repairs it. */
export interface FaultInjector {
  /** Kills with SIGKILL, waits a moment and starts a new process; sometimes repeatedly. */
  kill(role: ProcessRole): Promise<void>
  /** Sends SIGSTOP for longer than the node row or lease lives, then SIGCONT. */
  freeze(role: ProcessRole, ms: number): Promise<void>
  /** Starts a fault in the background, unless one is still running. */
  inBackground(disturb: () => Promise<void>): void
  /** Waits until runs are processed again, and then a random time, so that each fault hits another moment. */
  settle(): Promise<void>
  /** Waits until every fault in the background is repaired. */
  finish(): Promise<void>
}

const ANSWERS = 5
const BACK_MS = 60_000
const SETTLE_MS = 400

export function createFaultInjector(environment: ChaosEnvironment): FaultInjector {
  const { seeded, load, progress } = environment
  const pause = (most: number) => systemClock.sleep(seeded.between(0, most))
  let background: Promise<void> | undefined
  return {
    kill: (role) => killAndReplace(role, environment),
    freeze: (role, ms) => freezeFor(role, ms, environment),

    inBackground(disturb) {
      background ??= disturb().finally(() => (background = undefined))
      // `finish` awaits it; until then a rejection must not be unhandled.
      background.catch(() => {})
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

    async finish() {
      await background
    },
  }
}
