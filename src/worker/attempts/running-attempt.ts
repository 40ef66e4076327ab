import type { Clock } from '../../core/clock.ts'
import type { Assignment, FinishedAttempt } from '../../core/wire/protocol.ts'
import type { StopCause } from './handler.ts'

/** A running attempt, whatever executes it. */
export interface RunningAttempt {
  readonly assignment: Assignment
  start(): void
  /**
   * Asks the attempt to stop. The first cause wins, except that a lost lease overrides it: without
   * a lease there is no grace.
   */
  stop(why: StopCause): void
}

/** Whether a cause requires more than an earlier one did. */
export function outranks(why: StopCause, earlier: StopCause | undefined): boolean {
  return earlier === undefined || (why === 'lease_lost' && earlier !== 'lease_lost')
}

export interface AttemptHooks {
  readonly clock: Clock
  /**
   * Called once: with the report, or with nothing when the attempt no longer belongs to this
   * worker.
   */
  onEnd(attempt: RunningAttempt, done: FinishedAttempt | undefined): void
  /** Called once, never before `onEnd`: the attempt has really ended and its slot is free. */
  onReturn(attempt: RunningAttempt): void
  /**
   * The attempt exceeded its grace and may run forever. Only a function can; a process is killed.
   */
  onIgnored(attempt: RunningAttempt): void
  /** The attempt ended and its outcome cannot be known: it counts as lost. */
  onLost(attempt: RunningAttempt): void
}

export interface AttemptFactory {
  /** Creates the attempt for an assignment without starting it. */
  begin(assignment: Assignment, hooks: AttemptHooks): RunningAttempt
}
