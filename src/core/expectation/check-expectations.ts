import type { Lapse } from './violation.ts'
import type { Terms } from './terms.ts'

/** What is known of a run when it is looked at. */
export interface RunFacts {
  /** When its first attempt started, and the one under way or that ended it. */
  readonly firstStartedAt: number | null
  readonly startedAt: number | null
  /** Null while it has not ended. */
  readonly finishedAt: number | null
  /** It succeeded, but printed nothing and gave no result. */
  readonly isEmpty: boolean
}

export interface Judgement {
  readonly lapses: readonly Lapse[]
  /** What is still to be seen, and when; null if nothing is. */
  readonly left: { readonly terms: Terms; readonly lookAt: number } | null
}

/** What happened in time may be written down a moment later: nobody is blamed before that. */
const BENEFIT_MS = 500
/** How soon somebody looks again whether a run has ended of which nobody heard, and whether one has started. */
const END_LOOK_MS = 30_000
const START_LOOK_MS = 1_000

/** What becomes of one expectation: it is broken, or somebody looks again, or it is kept. */
type Verdict = { readonly lapse: Lapse } | { readonly lookAt: number } | null

/**
 * What has not come true by now, and what is still to be seen. By what happened and not by when it is
 * looked at: whoever comes late, because servers were down, finds the same.
 */
export function judge(terms: Terms, run: RunFacts, now: number): Judgement {
  const verdicts = {
    startBy: terms.startBy === undefined ? null : judgeStart(terms.startBy, run, now),
    endBy: terms.endBy === undefined ? null : judgeEnd(terms.endBy, run, now),
    longestMs: terms.longestMs === undefined ? null : judgeDuration(terms.longestMs, run, now),
    output: terms.output === undefined ? null : judgeOutput(run, now),
  } satisfies Record<Exclude<keyof Terms, 'usually'>, Verdict>
  const all: readonly [string, Verdict][] = Object.entries(verdicts)
  const open = all.flatMap(([term, verdict]) =>
    verdict && 'lookAt' in verdict ? [{ term, lookAt: verdict.lookAt }] : [],
  )
  const lapses = all.flatMap(([, verdict]) =>
    verdict && 'lapse' in verdict ? [verdict.lapse] : [],
  )
  if (open.length === 0) return { lapses, left: null }
  const names = new Set(open.map(({ term }) => term))
  const left = Object.fromEntries(Object.entries(terms).filter(([term]) => names.has(term)))
  return { lapses, left: { terms: left, lookAt: Math.min(...open.map(({ lookAt }) => lookAt)) } }
}

/** When a run that is being made has to be looked at first. */
export function firstLook(terms: Terms, nominalAt: number): number {
  const { startBy, endBy, longestMs, usually, output } = terms
  const looks = [
    ...(startBy === undefined ? [] : [startBy + BENEFIT_MS]),
    ...(endBy === undefined ? [] : [endBy + BENEFIT_MS]),
    ...(longestMs === undefined ? [] : [nominalAt + longestMs + BENEFIT_MS]),
    ...(usually === undefined ? [] : [nominalAt]),
    ...(output === undefined ? [] : [nominalAt + END_LOOK_MS]),
  ]
  return Math.min(...looks)
}

function judgeStart(startBy: number, run: RunFacts, now: number): Verdict {
  // One that was cancelled before it started is not waited for any more.
  const at = run.firstStartedAt ?? run.finishedAt
  return byThen(at, startBy, now, { kind: 'late', dueAt: startBy })
}

function judgeEnd(endBy: number, { finishedAt }: RunFacts, now: number): Verdict {
  return byThen(finishedAt, endBy, now, { kind: 'unfinished', dueAt: endBy })
}

function judgeDuration(longestMs: number, run: RunFacts, now: number): Verdict {
  const { startedAt, finishedAt } = run
  if (startedAt === null) {
    // Whenever it starts from now on, it cannot be slow before.
    return finishedAt === null ? { lookAt: now + Math.max(longestMs, START_LOOK_MS) } : null
  }
  const dueAt = startedAt + longestMs
  return byThen(finishedAt, dueAt, now, { kind: 'slow', dueAt })
}

function judgeOutput({ finishedAt, isEmpty }: RunFacts, now: number): Verdict {
  if (finishedAt === null) return { lookAt: now + END_LOOK_MS }
  return isEmpty ? { lapse: { kind: 'empty', dueAt: finishedAt } } : null
}

/** Whether something happened by its time; null if nobody has seen it happen. */
function byThen(at: number | null, dueAt: number, now: number, lapse: Lapse): Verdict {
  if (at !== null) return at > dueAt ? { lapse } : null
  return now >= dueAt + BENEFIT_MS ? { lapse } : { lookAt: dueAt + BENEFIT_MS }
}
