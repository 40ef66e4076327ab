import type { Attempt } from '../attempts.ts'
import type { History } from '../history.ts'
import type { Violation } from '../violation.ts'

/**
 * Every start is one of the attempts the database knows of: the one its run ended with, or one that
 * ended before it. Only what a worker itself handed back may be missing there; nobody else can know
 * that it will not go on.
 */
export function countingLaws({ truth, dump }: History, attempts: readonly Attempt[]): Violation[] {
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
      law: 'a start is counted',
      subject: run,
      detail: `was started by ${worker} under fence ${fence}, and the database knows of no such attempt`,
    }))
}
