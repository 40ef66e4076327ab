import type { ExpectationViolation } from './violation.ts'
import type { ExpectationTerms } from './terms.ts'

/** The facts about a run at the time of a check. */
export interface ObservedRun {
  /** When the first attempt started, and when the current or last one did. */
  readonly firstStartedAt: number | null
  readonly startedAt: number | null
  /** Null if the run has not ended. */
  readonly finishedAt: number | null
  /** It succeeded, but printed nothing and returned no result. */
  readonly isEmpty: boolean
}

export interface ExpectationCheck {
  readonly violations: readonly ExpectationViolation[]
  /** The terms that remain to be checked, and when; null if none do. */
  readonly left: { readonly terms: ExpectationTerms; readonly checkAt: number } | null
}

/** An event that happened in time may be stored a moment later: no violation is reported before that. */
const RECORDING_DELAY_MS = 500
/** How soon to check again for an end that was not reported, and for a start. */
const END_RECHECK_MS = 30_000
const START_RECHECK_MS = 1_000

/** The result for one expectation: violated, to be checked again, or met (null). */
type CheckResult =
  | { readonly violation: ExpectationViolation }
  | { readonly checkAt: number }
  | null

/**
 * Finds the violations up to now and the terms to check later. The result depends on what happened, not on when the
 * check runs: a late check, after an outage, finds the same violations.
 */
export function checkExpectations(
  terms: ExpectationTerms,
  run: ObservedRun,
  now: number,
): ExpectationCheck {
  const verdicts = {
    startBy: terms.startBy === undefined ? null : checkStart(terms.startBy, run, now),
    endBy: terms.endBy === undefined ? null : checkEnd(terms.endBy, run, now),
    longestMs: terms.longestMs === undefined ? null : checkDuration(terms.longestMs, run, now),
    output: terms.output === undefined ? null : checkOutput(run, now),
  } satisfies Record<Exclude<keyof ExpectationTerms, 'typicalMultiple'>, CheckResult>
  const all: readonly [string, CheckResult][] = Object.entries(verdicts)
  const open = all.flatMap(([term, verdict]) =>
    verdict && 'checkAt' in verdict ? [{ term, checkAt: verdict.checkAt }] : [],
  )
  const violations = all.flatMap(([, verdict]) =>
    verdict && 'violation' in verdict ? [verdict.violation] : [],
  )
  if (open.length === 0) return { violations, left: null }
  const names = new Set(open.map(({ term }) => term))
  const left = Object.fromEntries(Object.entries(terms).filter(([term]) => names.has(term)))
  return {
    violations,
    left: { terms: left, checkAt: Math.min(...open.map(({ checkAt }) => checkAt)) },
  }
}

/** The time of the first check for a run that is being created. */
export function firstCheckAt(terms: ExpectationTerms, nominalAt: number): number {
  const { startBy, endBy, longestMs, typicalMultiple, output } = terms
  const checkTimes = [
    ...(startBy === undefined ? [] : [startBy + RECORDING_DELAY_MS]),
    ...(endBy === undefined ? [] : [endBy + RECORDING_DELAY_MS]),
    ...(longestMs === undefined ? [] : [nominalAt + longestMs + RECORDING_DELAY_MS]),
    ...(typicalMultiple === undefined ? [] : [nominalAt]),
    ...(output === undefined ? [] : [nominalAt + END_RECHECK_MS]),
  ]
  return Math.min(...checkTimes)
}

function checkStart(startBy: number, run: ObservedRun, now: number): CheckResult {
  // A run that was cancelled before it started is no longer expected to start.
  const at = run.firstStartedAt ?? run.finishedAt
  return checkByTime(at, startBy, now, { kind: 'late', dueAt: startBy })
}

function checkEnd(endBy: number, { finishedAt }: ObservedRun, now: number): CheckResult {
  return checkByTime(finishedAt, endBy, now, { kind: 'unfinished', dueAt: endBy })
}

function checkDuration(longestMs: number, run: ObservedRun, now: number): CheckResult {
  const { startedAt, finishedAt } = run
  if (startedAt === null) {
    // Whenever the run starts from now on, it cannot be slow before this time.
    return finishedAt === null ? { checkAt: now + Math.max(longestMs, START_RECHECK_MS) } : null
  }
  const dueAt = startedAt + longestMs
  return checkByTime(finishedAt, dueAt, now, { kind: 'slow', dueAt })
}

function checkOutput({ finishedAt, isEmpty }: ObservedRun, now: number): CheckResult {
  if (finishedAt === null) return { checkAt: now + END_RECHECK_MS }
  return isEmpty ? { violation: { kind: 'empty', dueAt: finishedAt } } : null
}

/** Checks that something happened by its time; `at` is null if it has not happened yet. */
function checkByTime(
  at: number | null,
  dueAt: number,
  now: number,
  violation: ExpectationViolation,
): CheckResult {
  if (at !== null) return at > dueAt ? { violation } : null
  return now >= dueAt + RECORDING_DELAY_MS ? { violation } : { checkAt: dueAt + RECORDING_DELAY_MS }
}
