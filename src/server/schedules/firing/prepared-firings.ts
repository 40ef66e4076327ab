import type { FireCommand, ScheduleRecord } from '../../../store/port.ts'

/** A firing is prepared this long before its time, so its job definition may be this old. */
export const PREPARE_MS = 2_000
/** A prepared firing stays valid until this long after its time. */
const FRESH_MS = 1_000

/**
 * Firings planned before their time, so that only the store has to be asked at that time. Stored
 * per version of the schedule: a schedule that was read again is planned again.
 */
export interface PreparedFirings {
  /** Whether preparing it is useful and not done yet. */
  wants(schedule: ScheduleRecord): boolean
  /** Null: it has to be planned when the time comes. */
  keep(schedule: ScheduleRecord, command: FireCommand | null): void
  /** The prepared firing, if it is still valid; its runs get new ids. */
  take(schedule: ScheduleRecord, now: number): FireCommand | undefined
}

export function createPreparedFirings(mintId: () => number): PreparedFirings {
  const kept = new WeakMap<ScheduleRecord, FireCommand | null>()

  return {
    wants(schedule) {
      return schedule.next.nominalAt !== null && schedule.pause === null && !kept.has(schedule)
    },
    keep(schedule, command) {
      // A time that becomes no run may still become one: the reason may be gone by then.
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
  const { checkAt } = command.next
  const isInTime = next.checkAt !== null && next.checkAt <= now && now - next.checkAt <= FRESH_MS
  return isInTime && (checkAt === null || checkAt > now)
}
