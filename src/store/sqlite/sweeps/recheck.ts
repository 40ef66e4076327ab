import type { Database } from 'better-sqlite3'
import { sortSignals } from '../../signals.ts'
import type { RecheckResult as Rechecked, SweepStore } from '../../port.ts'
import type { Gates } from '../gates/admit.ts'
import type { Needs } from '../ticks/needs.ts'
import { prepareEmitSignals } from '../signals/emit-signals.ts'
import { prepareRecordOutboxEvents } from '../webhooks/outbox.ts'
import { prepareRecount } from '../gates/recount.ts'
import { ascending, parseGateIds, startTick } from '../tick-state/tick-state.ts'

export const PAST_RECHECK = `
  SELECT id, gates, gate_id AS gate FROM run
   WHERE status = 3 AND recheck_at <= ? ORDER BY recheck_at LIMIT ?`
export const POSTPONE = `UPDATE run SET recheck_at = ? WHERE id = ? AND status = 3`

export type Recheck = (input: Parameters<SweepStore['recheck']>[0], now: number) => Rechecked

interface Row {
  readonly id: number
  readonly gates: string | null
  /** Null: it waits for other runs. */
  readonly gate: number | null
}

export function prepareRecheck(
  db: Database,
  { gates, needs }: { gates: Gates; needs: Needs },
): Recheck {
  const pastRecheck = db.prepare<[number, number], Row>(PAST_RECHECK)
  const postpone = db.prepare(POSTPONE)
  const recordOutboxEvents = prepareRecordOutboxEvents(db)
  const emitSignals = prepareEmitSignals(db)
  const recount = prepareRecount(db)

  return ({ limit, recheckMs, gates: changed = [], runs = [] }, now) => {
    const tick = startTick(now, 0)
    for (const gate of changed) tick.touched.add(gate)
    const rows = pastRecheck.all(now, limit)
    const waiting = new Set(runs)
    const overdueGates = new Set<number>()
    for (const row of rows) {
      if (row.gate === null) waiting.add(row.id)
      else for (const gate of parseGateIds(row.gates)) overdueGates.add(gate)
    }
    const miscounted = recount(overdueGates)
    for (const gate of overdueGates) tick.touched.add(gate)
    const skipped = ascending(waiting).filter((runId) => needs.settle(runId, tick))
    if (skipped.length > 0) {
      recordOutboxEvents(() => skipped, now)
      emitSignals(() => skipped, tick)
    }
    gates.admitTouched(tick)
    for (const row of rows) postpone.run(now + recheckMs, row.id)
    return {
      lanes: ascending(tick.refilled),
      more: limit > 0 && rows.length === limit,
      nextDueAt: tick.nextDueAt,
      signals: sortSignals(tick.signals),
      miscounted,
    }
  }
}
