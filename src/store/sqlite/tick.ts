import type { Database } from 'better-sqlite3'
import type { TickBatch, TickResult } from '../port.ts'
import type { Gates } from './admit.ts'
import { prepareCancel } from './cancel.ts'
import { prepareClaim } from './claim.ts'
import type { Endings } from './end.ts'
import type { Keys } from './keys.ts'
import { prepareSubmit } from './submit.ts'
import { ascending, startTick } from './tick-state.ts'

export function prepareTick(
  db: Database,
  { gates, keys, endings }: { gates: Gates; keys: Keys; endings: Endings },
): (batch: TickBatch, now: number) => TickResult {
  const submit = prepareSubmit(db, keys)
  const cancel = prepareCancel(db, gates, keys)
  const claim = prepareClaim(db)

  return (batch, now) => {
    const tick = startTick(now, batch.node)
    const submits = batch.submits.map((run) => submit(run, tick))
    const ends = batch.ends.map((command) => endings.end(command, tick))
    const cancels = batch.cancels.map((command) => cancel(command, tick))
    gates.admitTouched(tick)
    const claims = batch.claims.map((demand) => claim(demand, tick))
    const { nextDueAt } = tick
    return { now, submits, ends, cancels, claims, refilled: ascending(tick.refilled), nextDueAt }
  }
}
