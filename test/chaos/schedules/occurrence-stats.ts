import type pg from 'pg'
import {
  OCCURRENCE_OUTCOMES,
  type OccurrenceOutcome,
} from '../../../src/core/schedule/firing/occurrence.ts'

/** Outcomes of all due times, for the summary. */
export interface OccurrenceStats {
  readonly times: Readonly<Record<OccurrenceOutcome, number>>
  readonly runs: number
  /** Fired exactly at their instant: most of them were durable before it. */
  readonly onTheDot: number
  /** From the due time to the record of its run. */
  readonly lateP50Ms: number
  readonly lateP99Ms: number
  readonly maxLateMs: number
}

const TIMES = `SELECT outcome, sum(count)::int AS times FROM occurrence GROUP BY outcome`
const LATE = `
  SELECT count(*)::int AS runs, (count(*) FILTER (WHERE late = 0))::int AS "onTheDot", coalesce(max(late), 0)::int AS "maxLateMs",
         coalesce(percentile_disc(0.5) WITHIN GROUP (ORDER BY late), 0)::int AS "lateP50Ms",
         coalesce(percentile_disc(0.99) WITHIN GROUP (ORDER BY late), 0)::int AS "lateP99Ms"
    FROM (SELECT at - nominal_at AS late FROM occurrence WHERE outcome <= 2) fired`

export async function readOccurrenceStats(client: pg.Client): Promise<OccurrenceStats> {
  const { rows } = await client.query<{ outcome: number; times: number }>(TIMES)
  const timesOf = (code: number) => rows.find(({ outcome }) => outcome === code)?.times ?? 0
  const [late] = (await client.query<Omit<OccurrenceStats, 'times'>>(LATE)).rows
  const times = Object.fromEntries(
    OCCURRENCE_OUTCOMES.map((outcome, code) => [outcome, timesOf(code)]),
  )
  return { times: times as Record<OccurrenceOutcome, number>, ...late! }
}
