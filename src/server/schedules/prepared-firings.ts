import type { FireCommand, ScheduleRecord } from '../../store/port.ts'

/** So long before its instant a firing is thought out: what it says of its job may be so old. */
export const PREPARE_MS = 2_000
/** So long after its instant it still says what would be decided anew. */
const FRESH_MS = 1_000

/**
 * Firings that were thought out before their instant, when there was time for it: at the instant only
 * the store is left to ask. Kept by the schedule as it was read, so that one that was read again since is
 * thought out again.
 */
export interface Prepared {
  /** Whether there is any use in preparing it, and nobody has. */
  wants(schedule: ScheduleRecord): boolean
  /** Null: it has to be looked at when the time comes. */
  keep(schedule: ScheduleRecord, command: FireCommand | null): void
  /** What was prepared, if it still says what would be decided now; its runs get ids of now. */
  take(schedule: ScheduleRecord, now: number): FireCommand | undefined
}

export function createPrepared(mintId: () => number): Prepared {
  const kept = new WeakMap<ScheduleRecord, FireCommand | null>()

  return {
    wants(schedule) {
      return schedule.next.nominalAt !== null && schedule.pause === null && !kept.has(schedule)
    },
    keep(schedule, command) {
      // What becomes no run for a reason may yet become one: the reason may be gone by then.
      const isSure = command?.settled.every(({ kind }) => kind === 'run')
      kept.set(schedule, isSure ? command : null)
    },
    take(schedule, now) {
      const command = kept.get(schedule)
      if (!command || !isFresh(schedule, command, now)) return undefined
      const settled = command.settled.map((time) =>
        time.kind === 'run' ? { ...time, run: { ...time.run, id: mintId() } } : time,
      )
      return { ...command, settled }
    },
  }
}

/** Neither late, nor has another of its times come meanwhile. */
function isFresh({ next }: ScheduleRecord, command: FireCommand, now: number): boolean {
  const { lookAt } = command.next
  const isInTime = next.lookAt !== null && next.lookAt <= now && now - next.lookAt <= FRESH_MS
  return isInTime && (lookAt === null || lookAt > now)
}
