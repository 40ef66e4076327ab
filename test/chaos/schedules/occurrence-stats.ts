import type pg from 'pg'
import { OUTCOMES, type Outcome } from '../../../src/core/schedule/firing/occurrence.ts'

/** What became of all times, for people. */
export interface Fates {
  readonly times: Readonly<Record<Outcome, number>>
  readonly runs: number
  /** As of their very instant: most of them were durable before it. */
  readonly onTheDot: number
  /** From a time to the record of its run. */
  readonly lateP50Ms: number
  readonly lateP99Ms: number
  readonly lateMostMs: number
}

const TIMES = `SELECT outcome, sum(count)::int AS times FROM occurrence GROUP BY outcome`
const LATE = `
  SELECT count(*)::int AS runs, (count(*) FILTER (WHERE late = 0))::int AS "onTheDot", coalesce(max(late), 0)::int AS "lateMostMs",
         coalesce(percentile_disc(0.5) WITHIN GROUP (ORDER BY late), 0)::int AS "lateP50Ms",
         coalesce(percentile_disc(0.99) WITHIN GROUP (ORDER BY late), 0)::int AS "lateP99Ms"
    FROM (SELECT at - nominal_at AS late FROM occurrence WHERE outcome <= 2) fired`

export async function readFates(client: pg.Client): Promise<Fates> {
  const { rows } = await client.query<{ outcome: number; times: number }>(TIMES)
  const timesOf = (code: number) => rows.find(({ outcome }) => outcome === code)?.times ?? 0
  const [late] = (await client.query<Omit<Fates, 'times'>>(LATE)).rows
  const times = Object.fromEntries(OUTCOMES.map((outcome, code) => [outcome, timesOf(code)]))
  return { times: times as Record<Outcome, number>, ...late! }
}
