import type pg from 'pg'
import { AHEAD_MS } from '../../../src/core/schedule/firing/early-firing.ts'

/** A handler began with a run, at a time of the machine that has the store as well. */
export interface Start {
  readonly runId: number
  readonly atMs: number
}

/**
 * Whose clock leaps, the one that nobody can set on a real machine, has every reason to think that an
 * instant has come for which it holds runs. So long after a leap nothing can be said.
 */
const AFTER_LEAP_MS = AHEAD_MS + 500
const MOST_SHOWN = 5
/** Outcomes that are runs: fired, delayed, blocked. */
const TIMES = `
  SELECT item.id::bigint AS "runId", nominal_at AS "nominalAt"
    FROM unnest($1::bigint[]) AS item (id)
    LEFT JOIN occurrence ON occurrence.id = item.id AND outcome <= 2`

/** What is wrong with when runs started, by the records of their times. */
export async function startLaws(
  client: pg.Client,
  starts: readonly Start[],
  leapsAtMs: readonly number[],
): Promise<string[]> {
  const runIds = [...new Set(starts.map(({ runId }) => runId))]
  const { rows } = await client.query<{ runId: number; nominalAt: number | null }>(TIMES, [runIds])
  const timeOf = new Map(rows.map(({ runId, nominalAt }) => [runId, nominalAt]))
  const isAfterLeap = (atMs: number) =>
    leapsAtMs.some((leapAtMs) => atMs >= leapAtMs && atMs <= leapAtMs + AFTER_LEAP_MS)
  const unknown: string[] = []
  const early: string[] = []
  for (const { runId, atMs } of starts) {
    const nominalAt = timeOf.get(runId) ?? null
    if (nominalAt === null) unknown.push(`a run that started is one of a time: run ${runId}`)
    else if (atMs < nominalAt && !isAfterLeap(atMs)) {
      early.push(`no run starts before its time: run ${runId}, by ${nominalAt - atMs} ms`)
    }
  }
  return [...unknown.slice(0, MOST_SHOWN), ...early.slice(0, MOST_SHOWN)]
}

/** Leases of nodes that are gone, or of which nothing is known any more. */
const FORSAKEN = `
  SELECT count(*)::int AS forsaken FROM lease LEFT JOIN node ON node.id = lease.node
   WHERE node.alive IS NOT TRUE`

export async function countForsaken(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ forsaken: number }>(FORSAKEN)
  return rows[0]!.forsaken
}
