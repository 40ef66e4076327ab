import type { TimeSequence } from '../firing/newest-times.ts'
import type { OccurrenceOutcome } from '../firing/occurrence.ts'
import { isFinal, type RunState } from '../../run/run-state.ts'

/** The order in which a backfill handles past times. */
export const BACKFILL_ORDERS = ['forward', 'reverse'] as const
/** Which past times a backfill runs: those without a run, those whose last run failed, or all. */
export const BACKFILL_SELECTIONS = ['missing', 'failed', 'all'] as const

export type BackfillOrder = (typeof BACKFILL_ORDERS)[number]
export type BackfillSelection = (typeof BACKFILL_SELECTIONS)[number]

/** The request as it is stored; `schedule` keeps the rule that the schedule had at that time. */
export interface BackfillSpec {
  /** The whole spec of the schedule, as text. */
  readonly schedule: string
  readonly from: number
  readonly until: number
  readonly order: BackfillOrder
  readonly which: BackfillSelection
  /** Maximum number of its runs that are open at once. */
  readonly maxParallel: number
  /** Maximum number of runs started per minute; null for no limit. */
  readonly perMinute: number | null
  readonly priority: number
}

/** The states of a backfill and their stored codes in both databases. Codes never change. */
export const BACKFILL_STATES = ['running', 'done', 'cancelled', 'failed'] as const
export type BackfillState = (typeof BACKFILL_STATES)[number]

export function backfillStateOf(code: number): BackfillState {
  const state = BACKFILL_STATES[code]
  if (state === undefined) throw new RangeError(`no state of a backfill has code ${code}`)
  return state
}

/** All times of a rule in [from, until], in ascending order; null if there are more than `max`. */
export function timesWithin(
  rule: TimeSequence,
  from: number,
  until: number,
  max: number,
): number[] | null {
  const times: number[] = []
  for (let at = rule.next(from - 1); at !== null && at <= until; at = rule.next(at)) {
    if (times.length === max) return null
    times.push(at)
  }
  return times
}

/** The times that follow a given time in the order of the backfill. */
export function timesAfter(
  ascending: readonly number[],
  order: BackfillOrder,
  place: number | null,
): readonly number[] {
  if (order === 'forward') return ascending.filter((at) => place === null || at > place)
  return ascending.filter((at) => place === null || at < place).toReversed()
}

/** The known facts about a past time. */
export interface PastTime {
  /** The recorded outcome of the time; null if none was recorded. */
  readonly outcome: OccurrenceOutcome | null
  /** Whether any run was ever created for it. */
  readonly hadRun: boolean
  /** The state of its latest run; null if it had none or the run has been deleted. */
  readonly latest: RunState | null
}

/** Whether a backfill creates a run for this time. It never does while a run of this time is open. */
export function isWanted(which: BackfillSelection, { outcome, hadRun, latest }: PastTime): boolean {
  if (latest !== null && !isFinal(latest)) return false
  switch (which) {
    case 'missing':
      return !hadRun && outcome !== 'merged'
    case 'failed':
      return latest === 'failed'
    case 'all':
      return true
  }
}
