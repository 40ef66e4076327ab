import type { EndCommand, NewRun } from './port.ts'

/**
 * A run without gates, keys, tags or timers, as most are: both stores have a cheaper path for
 * these.
 */
export function hasNoOptions(run: NewRun): boolean {
  return run.gates.length === 0 && run.dueAt === null && hasNoOtherOptions(run)
}

/** No options except gates and a due time that has passed: runs of schedules have both. */
export function hasNoOptionsButGates(run: NewRun, now: number): boolean {
  return (run.dueAt === null || run.dueAt <= now) && hasNoOtherOptions(run)
}

function hasNoOtherOptions(run: NewRun): boolean {
  return (
    run.work === null &&
    run.tags === null &&
    run.dedupeKey === null &&
    run.idempotency === null &&
    run.retryOf === null &&
    !startsAfter(run)
  )
}

/** Whether the run waits for other runs to end before anything else. */
export function startsAfter({ after }: NewRun): boolean {
  return after !== undefined && after.length > 0
}

/**
 * A success that a worker reports, without message or process. The report does not show whether the
 * run holds a gate or a key: that is in the database.
 */
export function isSimpleSuccess({ to, owner, cause, message, process }: EndCommand): boolean {
  return (
    to === 'succeeded' && owner === null && cause === null && message === null && process === null
  )
}
