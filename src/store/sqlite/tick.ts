import type { Database } from 'better-sqlite3'
import type { CancelVerdict, EndVerdict, TickBatch, TickResult } from '../port.ts'
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
    const submitted = submits(batch.submits, tick)
    const ends = endings.end(batch.ends, tick)
    const cancels = batch.cancels.map((command) => cancel(command, tick))
    noteEnds(() => changedIn(batch, ends, cancels), now)
    gates.admitTouched(tick)
    const { claims, limited } = claimAll(batch.claims, tick)
    const { nextDueAt } = tick
    const refilled = ascending(tick.refilled)
    return { now, submits: submitted, ends, cancels, claims, limited, refilled, nextDueAt }
  }
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
