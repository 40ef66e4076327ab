import type { Database } from 'better-sqlite3'
import type {
  CancelVerdict,
  EndVerdict,
  NewRun,
  SubmitVerdict,
  TickBatch,
  TickResult,
} from '../../port.ts'
import { sortSignals } from '../../signals.ts'
import { startsAfter } from '../../run-options.ts'
import type { Gates } from '../gates/admit.ts'
import { orderInserts } from './insert-order.ts'
import { prepareCancel } from './cancel.ts'
import { prepareClaim } from './claim.ts'
import { prepareClaims } from './claim-within-rates.ts'
import { prepareRecordOutboxEvents } from '../webhooks/outbox.ts'
import type { AttemptEnds } from './end.ts'
import type { Keys } from './submit-keys.ts'
import type { Needs } from './needs.ts'
import { prepareEmitSignals } from '../signals/emit-signals.ts'
import { MINTED_BY, prepareSubmits } from './submit.ts'
import { ascending, type GatedRuns, startTick } from '../tick-state/tick-state.ts'

export function prepareTick(
  db: Database,
  parts: { gates: Gates; keys: Keys; needs: Needs; endings: AttemptEnds; gatedRuns: GatedRuns },
): (batch: TickBatch, now: number, inBulk: boolean) => TickResult {
  const { gates, needs, endings, gatedRuns } = parts
  const submits = prepareSubmits(db, parts)
  const cancel = prepareCancel(db, parts)
  const claimAll = prepareClaims(db, prepareClaim(db))
  const recordOutboxEvents = prepareRecordOutboxEvents(db)
  const emitSignals = prepareEmitSignals(db)
  const mintedBy = db.prepare<[number], number>(MINTED_BY).pluck()

  return (batch, now, inBulk) => {
    const tick = startTick(now, batch.node, { gatedRuns, inBulk })
    // In bulk, an existing run is noticed when it is written.
    const isRepeated = (runs: readonly NewRun[]) =>
      !inBulk && runs.some(({ id }) => mintedBy.get(id) !== undefined)
    for (const run of batch.submits.filter(startsAfter)) {
      const unknown = mintedBy.get(run.id) === undefined ? needs.findUnknown(run) : undefined
      if (unknown !== undefined) tick.unknown.set(run.id, unknown)
    }
    const insertOrder = orderInserts(batch, isRepeated)
    const submitted = new Array<SubmitVerdict>(batch.submits.length)
    const submitAt = (places: readonly number[], mayEnter: boolean) => {
      const runs = places.map((place) => batch.submits[place] as NewRun)
      const verdicts = submits(runs, tick, mayEnter)
      for (const [index, place] of places.entries()) {
        submitted[place] = verdicts[index] as SubmitVerdict
      }
    }
    submitAt(insertOrder ? insertOrder.first : [...batch.submits.keys()], false)
    const ends = endings.end(batch.ends, tick)
    if (insertOrder) {
      submitAt(insertOrder.entering, true)
      submitAt(insertOrder.last, false)
    }
    const cancels = batch.cancels.map((command) => cancel(command, tick))
    if (ends.length + cancels.length > 0) {
      const changed = () => changedIn(batch, ends, cancels)
      recordOutboxEvents(changed, now)
      emitSignals(changed, tick)
    }
    gates.admitTouched(tick)
    const { claims, limited } = claimAll(batch.claims, tick)
    const { nextDueAt } = tick
    const refilled = ascending(tick.refilled)
    const signals = sortSignals(tick.signals)
    return { now, submits: submitted, ends, cancels, claims, limited, refilled, nextDueAt, signals }
  }
}

/** Runs that this tick may have ended; their rows say which it did. */
function changedIn(
  { ends, cancels }: TickBatch,
  ended: readonly EndVerdict[],
  cancelled: readonly CancelVerdict[],
): Set<number> {
  const changed = new Set<number>()
  for (const [index, { runId }] of ends.entries()) if (ended[index] === 'ended') changed.add(runId)
  for (const [index, { runId }] of cancels.entries()) {
    if (cancelled[index]?.kind === 'cancelled') changed.add(runId)
  }
  return changed
}
