import { systemClock } from '../../src/worker/clock/system-clock.ts'
import type { Seeded } from '../sim/seeded.ts'
import type { ProcessRole } from './processes.ts'
import type { FaultKind } from './history.ts'
import type { ClockShift } from './settable-clock.ts'
import { SHORT_TIMES } from './short-times.ts'

/** The random generator of a fault, and the place where the fault is recorded. */
export interface FaultContext {
  readonly seeded: Seeded
  note(kind: FaultKind, target: string): void
}

/** Longer than other nodes wait before they declare a silent node dead. */
export const PAST_NODE_TTL_MS = SHORT_TIMES.nodeTtlMs + 1_500
export const PAST_LEASE_TTL_MS = SHORT_TIMES.leaseTtlMs + SHORT_TIMES.reapMarginMs + 1_000

const MAX_DOWN_MS = 150
/** How often the replacement is killed too while it starts: recovery must survive its own interruption. */
const DIES_AT_START = 0.15
const STARTING_MS = 700

/** Kills the process with SIGKILL, waits a moment and starts a new one; sometimes repeatedly. */
export async function killAndReplace(
  role: ProcessRole,
  { seeded, note }: FaultContext,
): Promise<void> {
  const pause = (most: number) => systemClock.sleep(seeded.between(0, most))
  const process = role.current()
  note('killed', process.name)
  await process.kill()
  await pause(MAX_DOWN_MS)
  if (seeded.chance(DIES_AT_START)) {
    const replacement = role.begin()
    // Half of the replacements are up before they are killed: workers then reconnect and report lost runs.
    if (seeded.chance(0.5)) await replacement.ready()
    await pause(STARTING_MS)
    note('killed', replacement.name)
    await replacement.kill()
  }
  await role.start()
}

/** Stops the process with SIGSTOP for `ms`, then continues it. */
export async function freezeFor(
  role: ProcessRole,
  ms: number,
  { note }: Pick<FaultContext, 'note'>,
): Promise<void> {
  const process = role.current()
  note('frozen', process.name)
  process.freeze()
  await systemClock.sleep(ms)
  process.thaw()
  note('thawed', process.name)
}

/** Shifts the clocks of the process. */
export function setClock(
  role: ProcessRole,
  shift: ClockShift,
  { note }: Pick<FaultContext, 'note'>,
): void {
  const process = role.current()
  note('clock-set', process.name)
  process.writeLine(JSON.stringify(shift))
}
