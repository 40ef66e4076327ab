import type { Database } from 'better-sqlite3'
import type {
  CancelVerdict,
  EndVerdict,
  NewRun,
  SubmitVerdict,
  TickBatch,
  TickResult,
} from '../port.ts'
import type { Gates } from './admit.ts'
import { prepareCancel } from './cancel.ts'
import { prepareClaim } from './claim.ts'
import { prepareClaims } from './rates.ts'
import { prepareNoteEnds } from './outbox.ts'
import type { Endings } from './end.ts'
import type { Keys } from './keys.ts'
import { prepareSubmits } from './submit.ts'
import { ascending, type Holding, startTick } from './tick-state.ts'

export function prepareTick(
  db: Database,
  { gates, keys, endings }: { gates: Gates; keys: Keys; endings: Endings },
): (batch: TickBatch, now: number, inBulk: boolean) => TickResult {
  const submits = prepareSubmits(db, gates, keys)
  const cancel = prepareCancel(db, gates, keys)
  const claimAll = prepareClaims(db, prepareClaim(db))
  const noteEnds = prepareNoteEnds(db)

  const holding: Holding = new Map()

  return (batch, now, inBulk) => {
    const tick = startTick(now, batch.node, { holding, inBulk })
    // Runs at gates come when those who leave are gone: they find the room they need.
    const atGates = batch.submits.filter(mayFindRoom)
    const others =
      atGates.length > 0 ? batch.submits.filter((run) => !mayFindRoom(run)) : batch.submits
    const verdicts = submits(others, tick)
    const ends = endings.end(batch.ends, tick)
    const submitted =
      atGates.length > 0 ? merge(batch.submits, verdicts, submits(atGates, tick)) : verdicts
    const cancels = batch.cancels.map((command) => cancel(command, tick))
    noteEnds(() => changedIn(batch, ends, cancels), now)
    gates.admitTouched(tick)
    const { claims, limited } = claimAll(batch.claims, tick)
    const { nextDueAt } = tick
    const refilled = ascending(tick.refilled)
    return { now, submits: submitted, ends, cancels, claims, limited, refilled, nextDueAt }
  }
}

/** Keys are taken before any are given back, as everywhere. */
function mayFindRoom({ gates, dedupeKey, idempotency }: NewRun): boolean {
  return gates.length > 0 && dedupeKey === null && idempotency === null
}

function merge(
  runs: readonly NewRun[],
  others: readonly SubmitVerdict[],
  atGates: readonly SubmitVerdict[],
): SubmitVerdict[] {
  const [first, second] = [others.values(), atGates.values()]
  return runs.map((run) => (mayFindRoom(run) ? second : first).next().value as SubmitVerdict)
}

/** Runs that this tick may have ended; which of them it did, their rows say. */
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
