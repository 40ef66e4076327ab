import type { Clock } from '../../core/clock.ts'
import type { Assignment, Done } from '../../core/wire/protocol.ts'
import type { StopCause } from './handler.ts'

/** An attempt at work, whatever does the work. */
export interface UnderWay {
  readonly assignment: Assignment
  start(): void
  /** Tells it to stop. The first cause stands, but for a lease that is lost: whoever has none gets no grace. */
  stop(why: StopCause): void
}

/** Whether there is more to do for a cause than was done for an earlier one. */
export function outranks(why: StopCause, earlier: StopCause | undefined): boolean {
  return earlier === undefined || (why === 'lease_lost' && earlier !== 'lease_lost')
}

export interface AttemptHooks {
  readonly clock: Clock
  /** Once: there is something to report, or nothing when the attempt is no longer ours. */
  onEnd(attempt: UnderWay, done: Done | undefined): void
  /** Once, never before `onEnd`: it is really over and its slot is free. */
  onReturn(attempt: UnderWay): void
  /** It outlived its grace and may run on forever. Only a function can; a process is killed. */
  onIgnored(attempt: UnderWay): void
  /** It is over and nobody knows how: counted as lost. */
  onLost(attempt: UnderWay): void
}

/** Makes the attempt for an assignment; nothing has started yet. */
export type Begin = (assignment: Assignment, hooks: AttemptHooks) => UnderWay
