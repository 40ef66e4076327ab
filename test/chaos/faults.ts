import { systemClock } from '../../src/worker/clock/system-clock.ts'
import type { Seeded } from '../sim/seeded.ts'
import type { Role } from './processes.ts'
import type { FaultKind } from './history.ts'
import type { ClockShift } from './settable-clock.ts'
import { SHORT_TIMES } from './short-times.ts'

/** Who strikes: where chance comes from, and where it is written down. */
export interface Striker {
  readonly seeded: Seeded
  note(kind: FaultKind, target: string): void
}

/** Longer than any other node waits before it declares a silent one dead. */
export const PAST_NODE_TTL_MS = SHORT_TIMES.nodeTtlMs + 1_500
export const PAST_LEASE_TTL_MS = SHORT_TIMES.leaseTtlMs + SHORT_TIMES.reapMarginMs + 1_000

const ABSENCE_MS = 150
/** How often the heir is killed as well, while it starts: recovery must survive its own interruption. */
const STILLBORN = 0.15
const STARTING_MS = 700

/** kill -9, a moment of absence, and a new start; sometimes more than one. */
export async function killAndReplace(role: Role, { seeded, note }: Striker): Promise<void> {
  const pause = (most: number) => systemClock.sleep(seeded.between(0, most))
  const process = role.current()
  note('killed', process.name)
  await process.kill()
  await pause(ABSENCE_MS)
  if (seeded.chance(STILLBORN)) {
    const heir = role.begin()
    // Half of them not before they are up: then workers are coming back, and have things to confess.
    if (seeded.chance(0.5)) await heir.ready()
    await pause(STARTING_MS)
    note('killed', heir.name)
    await heir.kill()
  }
  await role.start()
}

/** SIGSTOP for so long, then SIGCONT. */
export async function freezeFor(
  role: Role,
  ms: number,
  { note }: Pick<Striker, 'note'>,
): Promise<void> {
  const process = role.current()
  note('frozen', process.name)
  process.freeze()
  await systemClock.sleep(ms)
  process.thaw()
  note('thawed', process.name)
}

/** Its clocks show something else from now on. */
export function setClock(role: Role, shift: ClockShift, { note }: Pick<Striker, 'note'>): void {
  const process = role.current()
  note('clock-set', process.name)
  process.tell(JSON.stringify(shift))
}
