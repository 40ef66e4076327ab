import type { RecordedAttempt } from '../attempts.ts'
import type { History } from '../history.ts'
import type { Violation } from '../violation.ts'

/**
 * Every start is an attempt in the database: the final one of its run, or an earlier one. Only attempts that
 * the worker itself gave back may be missing.
 */
export function countingInvariants(
  { truth, dump }: History,
  attempts: readonly RecordedAttempt[],
): Violation[] {
  const known = new Set([
    ...dump.runs.map(({ run, fence }) => `${run} ${fence}`),
    ...dump.attempts.map(({ run, fence }) => `${run} ${fence}`),
    ...truth
      .filter(({ outcome }) => outcome === 'given_back')
      .map(({ run, fence }) => `${run} ${fence}`),
  ])
  const stored = new Set(dump.runs.map(({ run }) => run))
  return attempts
    .filter(({ run, fence }) => stored.has(run) && !known.has(`${run} ${fence}`))
    .map(({ run, fence, worker }): Violation => ({
      invariant: 'a start is counted',
      subject: run,
      detail: `was started by ${worker} under fence ${fence}, and the database knows of no such attempt`,
    }))
}
