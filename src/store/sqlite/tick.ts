import type { Database } from 'better-sqlite3'
import type { TickBatch, TickResult } from '../port.ts'
import type { Gates } from './admit.ts'
import { prepareCancel } from './cancel.ts'
import { prepareClaim } from './claim.ts'
import type { Endings } from './end.ts'
import type { Keys } from './keys.ts'
import { prepareSubmits } from './submit.ts'
import { ascending, startTick } from './tick-state.ts'

export function prepareTick(
  db: Database,
  { gates, keys, endings }: { gates: Gates; keys: Keys; endings: Endings },
): (batch: TickBatch, now: number, inBulk: boolean) => TickResult {
  const submits = prepareSubmits(db, keys)
  const cancel = prepareCancel(db, gates, keys)
  const claim = prepareClaim(db)

  const holding = new Set<number>()

  return (batch, now, inBulk) => {
    const tick = startTick(now, batch.node, { holding, inBulk })
    const submitted = submits(batch.submits, tick)
    const ends = endings.end(batch.ends, tick)
    const cancels = batch.cancels.map((command) => cancel(command, tick))
    gates.admitTouched(tick)
    const claims = batch.claims.map((demand) => claim(demand, tick))
    const { nextDueAt } = tick
    const refilled = ascending(tick.refilled)
    return { now, submits: submitted, ends, cancels, claims, refilled, nextDueAt }
  }
}
