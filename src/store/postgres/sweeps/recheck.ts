import { inOrder } from '../../signals.ts'
import type { Recheck, SweepStore } from '../../port.ts'
import { admitWithin, lockAll } from '../gates/admit.ts'
import { bigints } from '../connection/binary-arrays.ts'
import type { Database } from '../database/database.ts'
import { lockWaiting, settleWaiting, tryWaiting } from '../ticks/needs.ts'
import { NOTHING_TOLD, tell } from '../signals/emit-signals.ts'
import { noteEnds } from '../webhooks/outbox.ts'
import { recount } from '../gates/recount.ts'
import { CLOCK } from '../connection/statement.ts'
import { transact } from '../connection/transaction.ts'

/**
 * Locks nothing: whoever has a gate meanwhile would pass over those who stand there, and admit those
 * behind. One that was sent to a gate nobody looked at has not waited: its time is nought.
 */
const TO_RECHECK = {
  name: 'to-recheck',
  text: `
  WITH ${CLOCK}
  SELECT run_id AS "runId", gate_id AS "gateId", gates, recheck_at > 0 AS "hasWaited" FROM blocked
   WHERE recheck_at <= (SELECT now FROM clock)
   ORDER BY recheck_at, run_id LIMIT $2::int`,
}
/** Never waits: whoever cancels a run has its row first and then waits for gates, which are ours. */
const STAY = {
  name: 'stay-blocked',
  text: `
  WITH ${CLOCK},
  held AS MATERIALIZED (
    SELECT run_id FROM blocked WHERE run_id = ANY ($2::bigint[]) FOR UPDATE SKIP LOCKED)
  UPDATE blocked SET recheck_at = now + $3::bigint FROM clock
   WHERE run_id = ANY (ARRAY(SELECT run_id FROM held))`,
}

interface Row {
  readonly runId: number
  /** Null: it waits for other runs. */
  readonly gateId: number | null
  readonly gates: number[]
  readonly hasWaited: boolean
}

/**
 * Runs that wait for others are locked, those that were asked for first, in their order, and the rest
 * as far as nobody else has them: two that do this at once never wait for each other. Runs at gates
 * are decided under the locks of these.
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
    const following = rows.filter(({ gateId }) => gateId === null).map(({ runId }) => runId)
    const waiting = await tryWaiting(work, ascending(following))
    const atGates = rows.filter(({ gateId }) => gateId !== null)
    const met = atGates.flatMap(({ gates }) => gates)
    const longHeld = atGates.filter(({ hasWaited }) => hasWaited).flatMap(({ gates }) => gates)
    const settled = await settleWaiting(work, now, ascending([...asked, ...waiting]))
    const { skipped, nextDueAt } = settled
    if (skipped.length > 0) await noteEnds(work, now, skipped)
    const told = skipped.length > 0 ? await tell(work, now, skipped) : NOTHING_TOLD
    const locked = await lockAll(work, ascending([...changed, ...met, ...settled.gates]))
    const miscounted = await recount(work, ascending(longHeld))
    // Before anybody is let through: who is sent to a gate we do not have is to be looked at sooner.
    const seen = [...waiting, ...atGates.map(({ runId }) => runId)]
    await work.query(STAY, [now, bigints(seen), recheckMs])
    const lanes = await admitWithin(work, new Set(locked), locked)
    return {
      lanes: ascending([...lanes, ...settled.lanes]),
      more: seen.length > 0 && rows.length === limit,
      nextDueAt,
      news: inOrder(told.news),
      miscounted,
    }
  })
}

function ascending(numbers: readonly number[]): number[] {
  return [...new Set(numbers)].toSorted((a, b) => a - b)
}
