import type pg from 'pg'
import { MAX_LEAD_MS } from '../../../src/core/schedule/firing/early-firing.ts'

/** A handler start, timed by the clock of the machine that also has the store. */
export interface RecordedStart {
  readonly runId: number
  readonly atMs: number
}

/**
 * A node whose monotonic clock leaps, which real machines rule out, may start the runs it holds early. Starts
 * within this time after a leap are not checked.
 */
const AFTER_LEAP_MS = MAX_LEAD_MS + 500
const MAX_SHOWN = 5
/** Outcomes that are runs: fired, delayed, blocked. */
const TIMES = `
  SELECT item.id::bigint AS "runId", nominal_at AS "nominalAt"
    FROM unnest($1::bigint[]) AS item (id)
    LEFT JOIN (
      SELECT id, nominal_at FROM occurrence WHERE outcome <= 2
       UNION ALL SELECT id, nominal_at FROM void_occurrence WHERE outcome <= 2) fired USING (id)`

/** Violations in the start times of runs, compared with their due times. */
export async function startInvariants(
  client: pg.Client,
  starts: readonly RecordedStart[],
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
  return [...unknown.slice(0, MAX_SHOWN), ...early.slice(0, MAX_SHOWN)]
}

/** Leases of nodes that are dead or unknown. */
const ORPHANED = `
  SELECT count(*)::int AS orphaned FROM lease LEFT JOIN node ON node.id = lease.node
   WHERE node.alive IS NOT TRUE`

export async function countOrphaned(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ orphaned: number }>(ORPHANED)
  return rows[0]!.orphaned
}
