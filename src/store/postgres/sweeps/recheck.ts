import { sortSignals } from '../../signals.ts'
import type { RecheckResult, SweepStore } from '../../port.ts'
import { admitWithin, lockAll } from '../gates/admit.ts'
import { bigints } from '../connection/binary-arrays.ts'
import type { Database } from '../database/database.ts'
import { lockWaiting, settleWaiting, tryWaiting } from '../ticks/needs.ts'
import { NO_SIGNALS, emitSignals } from '../signals/emit-signals.ts'
import { recordOutboxEvents } from '../webhooks/outbox.ts'
import { recount } from '../gates/recount.ts'
import { CLOCK } from '../connection/statement.ts'
import { transact } from '../connection/transaction.ts'

/**
 * Locks nothing: a transaction that holds the gate would otherwise skip the runs that wait there,
 * and admit those behind. A run sent to an unread gate is overdue: its recheck time is zero.
 */
const TO_RECHECK = {
  name: 'to-recheck',
  text: `
  WITH ${CLOCK}
  SELECT run_id AS "runId", gate_id AS "gateId", gates, recheck_at > 0 AS "hasWaited" FROM blocked
   WHERE recheck_at <= (SELECT now FROM clock)
   ORDER BY recheck_at, run_id LIMIT $2::int`,
}
/**
 * Never waits: a cancel has the run's row first and then waits for gates, which this transaction
 * holds.
 */
const POSTPONE = {
  name: 'postpone-recheck',
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
 * Locks runs that wait for others: the requested ones first, in order, and the rest as far as no
 * other transaction has them. Two concurrent sweeps never wait for each other. Runs at gates are
 * decided under the locks of the gates.
 */
export async function recheck(
  db: Database,
  { limit, recheckMs, gates: changed = [], runs = [] }: Parameters<SweepStore['recheck']>[0],
): Promise<RecheckResult> {
  return transact(db.duty, async (tx) => {
    const now = db.now()
    const asked = await lockWaiting(tx, ascending(runs))
    const rows = await tx.query<Row>(TO_RECHECK, [now, limit])
    if (rows.length + changed.length + asked.length === 0) {
      return { lanes: [], more: false, nextDueAt: null, signals: [], miscounted: [] }
    }
    const following = rows.filter(({ gateId }) => gateId === null).map(({ runId }) => runId)
    const waiting = await tryWaiting(tx, ascending(following))
    const atGates = rows.filter(({ gateId }) => gateId !== null)
    const gatesWaitedAt = atGates.flatMap(({ gates }) => gates)
    const overdueGates = atGates.filter(({ hasWaited }) => hasWaited).flatMap(({ gates }) => gates)
    const settled = await settleWaiting(tx, now, ascending([...asked, ...waiting]))
    const { skipped, nextDueAt } = settled
    if (skipped.length > 0) await recordOutboxEvents(tx, now, skipped)
    const emitted = skipped.length > 0 ? await emitSignals(tx, now, skipped) : NO_SIGNALS
    const locked = await lockAll(tx, ascending([...changed, ...gatesWaitedAt, ...settled.gates]))
    const miscounted = await recount(tx, ascending(overdueGates))
    // Before any run is admitted: a run sent to a gate that is not locked here must be rechecked
    // sooner.
    const seen = [...waiting, ...atGates.map(({ runId }) => runId)]
    await tx.query(POSTPONE, [now, bigints(seen), recheckMs])
    const lanes = await admitWithin(tx, new Set(locked), locked)
    return {
      lanes: ascending([...lanes, ...settled.lanes]),
      more: seen.length > 0 && rows.length === limit,
      nextDueAt,
      signals: sortSignals(emitted.signals),
      miscounted,
    }
  })
}

function ascending(numbers: readonly number[]): number[] {
  return [...new Set(numbers)].toSorted((a, b) => a - b)
}
