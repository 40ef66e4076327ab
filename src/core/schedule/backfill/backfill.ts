import type { Times } from '../firing/newest-times.ts'
import type { Outcome } from '../firing/occurrence.ts'
import { isFinal, type RunState } from '../../run/run-state.ts'

/** In which order past times are made up for. */
export const ORDERS = ['forward', 'reverse'] as const
/** Which: those that never became a run, those whose last run failed, or all of them. */
export const WHICH = ['missing', 'failed', 'all'] as const

export type Order = (typeof ORDERS)[number]
export type Which = (typeof WHICH)[number]

/** What somebody asked for, as it is stored; the rule is the one the schedule had then. */
export interface BackfillSpec {
  /** The whole spec of the schedule, as text. */
  readonly schedule: string
  readonly from: number
  readonly until: number
  readonly order: Order
  readonly which: Which
  /** So many of its runs may be open at once. */
  readonly maxParallel: number
  /** And so many may start in a minute; null for no limit. */
  readonly perMinute: number | null
  readonly priority: number
}

/** How a backfill stands, and how that is stored in both databases. Codes are forever. */
export const BACKFILL_STATES = ['running', 'done', 'cancelled', 'failed'] as const
export type BackfillState = (typeof BACKFILL_STATES)[number]

export function backfillStateOf(code: number): BackfillState {
  const state = BACKFILL_STATES[code]
  if (state === undefined) throw new RangeError(`no state of a backfill has code ${code}`)
  return state
}

/** All times of a rule in [from, until], in ascending order; null if there are more than `most`. */
export function timesWithin(
  rule: Times,
  from: number,
  until: number,
  most: number,
): number[] | null {
  const times: number[] = []
  for (let at = rule.next(from - 1); at !== null && at <= until; at = rule.next(at)) {
    if (times.length === most) return null
    times.push(at)
  }
  return times
}

/** Those that come after a place, in the order they are to be handled. */
export function timesAfter(
  ascending: readonly number[],
  order: Order,
  place: number | null,
): readonly number[] {
  if (order === 'forward') return ascending.filter((at) => place === null || at > place)
  return ascending.filter((at) => place === null || at < place).toReversed()
}

/** What is known of a past time. */
export interface TimeStory {
  /** What became of it when it came due; null if nothing was written down. */
  readonly outcome: Outcome | null
  /** Whether any run was ever made for it. */
  readonly hadRun: boolean
  /** The state of its latest run; null if it had none, or nobody remembers. */
  readonly latest: RunState | null
}

/** Whether a time is to get a run. While one of its runs is under way it never is. */
export function isWanted(which: Which, { outcome, hadRun, latest }: TimeStory): boolean {
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
