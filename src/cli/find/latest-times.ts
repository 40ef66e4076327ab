import type { WireOccurrence } from '../../core/schedule/definition/schedule-views.ts'
import { everyPage } from './every-page.ts'
import { schedulePath } from './find-schedule.ts'
import type { ServerCalls } from '../server/server-calls.ts'

export interface TimeRange {
  readonly from: number
  readonly until: number
  /** The number of last times to return. */
  readonly most: number
}

const FIRST_LOOK_MS = 60_000
const FURTHER = 8
const PAGES = 10_000

/**
 * The last times of a range. The server lists times in ascending order, and there may be a million:
 * so ask for a short range at the end first, and for longer ones if that was not enough.
 */
export async function latestTimes(
  calls: ServerCalls,
  schedule: Parameters<typeof schedulePath>[0],
  { from, until, most }: TimeRange,
): Promise<WireOccurrence[]> {
  for (let ms = FIRST_LOOK_MS; ; ms *= FURTHER) {
    const start = Math.max(from, until - ms)
    const times = await timesIn(calls, schedule, { from: start, until, most: PAGES })
    if (times.length >= most || start === from) return times.slice(-most)
  }
}

/** The first times of a range. */
export function timesIn(
  calls: ServerCalls,
  schedule: Parameters<typeof schedulePath>[0],
  { from, until, most }: TimeRange,
): Promise<WireOccurrence[]> {
  const range = { from: new Date(from).toISOString(), until: new Date(until).toISOString() }
  const query = new URLSearchParams(range).toString()
  return everyPage(calls, `${schedulePath(schedule)}/occurrences?${query}`, most)
}
