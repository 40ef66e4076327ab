import { inOrder } from '../news.ts'
import type { Recheck, SweepStore } from '../port.ts'
import { admitWithin, lockAll } from './admit.ts'
import { bigints } from './binary-arrays.ts'
import type { Database } from './database.ts'
import { lockWaiting, settleWaiting } from './needs.ts'
import { NOTHING_TOLD, tell } from './news.ts'
import { noteEnds } from './outbox.ts'
import { recount } from './recount.ts'
import { CLOCK } from './statement.ts'
import { transact } from './transaction.ts'

/** One that was sent to a gate without anybody looking at that has not waited: its time is nought. */
const TO_RECHECK = {
  name: 'to-recheck',
  text: `
  WITH ${CLOCK}
  SELECT run_id AS "runId", gate_id AS "gateId", gates, recheck_at > 0 AS "hasWaited" FROM blocked
   WHERE recheck_at <= (SELECT now FROM clock)
   ORDER BY recheck_at, run_id LIMIT $2::int FOR UPDATE SKIP LOCKED`,
}
const STAY = {
  name: 'stay-blocked',
  text: `
  WITH ${CLOCK}
  UPDATE blocked SET recheck_at = now + $3::bigint FROM clock WHERE run_id = ANY ($2::bigint[])`,
}

interface Row {
  readonly runId: number
  /** Null: it waits for other runs. */
  readonly gateId: number | null
  readonly gates: number[]
  readonly hasWaited: boolean
}

/**
 * Runs that were asked for are locked first, in their order, and the rest as far as nobody else has
 * them: two that do this at once never wait for each other.
 */
export async function recheck(
  db: Database,
  { limit, recheckMs, gates: changed = [], runs = [] }: Parameters<SweepStore['recheck']>[0],
): Promise<Recheck> {
  return transact(db.duty, async (work) => {
    const now = db.now()
    const asked = await lockWaiting(work, ascending(runs))
    const rows = await work.query<Row>(TO_RECHECK, [now, limit])
    if (rows.length + changed.length + asked.length === 0) {
      return { lanes: [], more: false, nextDueAt: null, news: [], miscounted: [] }
    }
    const waiting = [
      ...asked,
      ...rows.filter(({ gateId }) => gateId === null).map(({ runId }) => runId),
    ]
    const atGates = rows.filter(({ gateId }) => gateId !== null)
    const met = atGates.flatMap(({ gates }) => gates)
    const longHeld = atGates.filter(({ hasWaited }) => hasWaited).flatMap(({ gates }) => gates)
    const settled = await settleWaiting(work, now, ascending(waiting))
    const { skipped, nextDueAt } = settled
    if (skipped.length > 0) await noteEnds(work, now, skipped)
    const told = skipped.length > 0 ? await tell(work, now, skipped) : NOTHING_TOLD
    const locked = await lockAll(work, ascending([...changed, ...met, ...settled.gates]))
    const miscounted = await recount(work, ascending(longHeld))
    const lanes = await admitWithin(work, new Set(locked), locked)
    await work.query(STAY, [now, bigints(rows.map(({ runId }) => runId)), recheckMs])
    return {
      lanes: ascending([...lanes, ...settled.lanes]),
      more: limit > 0 && rows.length === limit,
      nextDueAt,
      news: inOrder(told.news),
      miscounted,
    }
  })
}

function ascending(numbers: readonly number[]): number[] {
  return [...new Set(numbers)].toSorted((a, b) => a - b)
}
