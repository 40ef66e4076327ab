import type { EndCommand, NewRun } from './port.ts'

/** A run that asks for nothing special, as most do: both stores have a cheaper way for these. */
export function isPlainRun(run: NewRun): boolean {
  return run.gates.length === 0 && run.dueAt === null && isPlainOtherwise(run)
}

/** Plain but for gates, and a time that has come: those of schedules have both. */
export function isPlainAtGates(run: NewRun, now: number): boolean {
  return (run.dueAt === null || run.dueAt <= now) && isPlainOtherwise(run)
}

function isPlainOtherwise(run: NewRun): boolean {
  return (
    run.work === null &&
    run.tags === null &&
    run.dedupeKey === null &&
    run.idempotency === null &&
    run.retryOf === null &&
    !startsAfter(run)
  )
}

/** Whether it waits for other runs before anything else. */
export function startsAfter({ after }: NewRun): boolean {
  return after !== undefined && after.length > 0
}

/** A worker's report of success. Whether its run holds a gate or a key, only the store knows. */
export function isPlainSuccess({ to, owner, cause, message, process }: EndCommand): boolean {
  return (
    to === 'succeeded' && owner === null && cause === null && message === null && process === null
  )
}
