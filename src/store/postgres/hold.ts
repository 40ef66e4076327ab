import { StoreError } from '../port.ts'
import type { Work } from './statement.ts'

/**
 * So long before its time a firing may be asked for. Ticks go on beside it; duties wait, and so does
 * who wants to change one of its schedules.
 */
export const AHEAD_MS = 200
/** Nobody asks for more, except by a clock that differs: then it is early, or the clock has moved. */
const MOST_MS = 2 * AHEAD_MS

const NOW = `floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint`
const HOLD = {
  name: 'hold-firing',
  text: `
  WITH ready AS MATERIALIZED (SELECT ${NOW} AS at),
  waited AS MATERIALIZED (
    SELECT at, pg_sleep(least($2::bigint, greatest(0, $1::bigint - at)) / 1000.0) FROM ready)
  SELECT at AS "readyAt", ${NOW} AS now FROM waited`,
}

/** Keeps the transaction open until that time by the server's clock, and says how long it had to. */
export async function hold(work: Work, until: number): Promise<number> {
  const [row] = await work.query<{ readyAt: number; now: number }>(HOLD, [until, MOST_MS])
  const { readyAt, now } = row!
  if (now < until) throw new StoreError('unavailable', 'the clock was set back meanwhile')
  return now - readyAt
}

/** Whether work at this time is to be seen at that one, and can be kept back until then. */
export function isAheadOf(notBefore: number, now: number): boolean {
  return notBefore > now && notBefore - now <= MOST_MS
}
