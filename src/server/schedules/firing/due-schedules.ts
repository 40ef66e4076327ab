import type { ScheduleRecord, ScheduleStore } from '../../../store/port.ts'
import { drainInto, drainSet } from './drain-set.ts'
import { createDueReader } from './due-reader.ts'
import { createDueWindow, type DueWindow } from './due-window.ts'

/** Delay after a failure of the store, and for a small difference between two clocks. */
const RETRY_MS = 500
const EARLY_MS = 2
/**
 * A node that fired another node's schedule continues with it after this delay, so that a returning
 * owner wins.
 */
const NON_OWNER_DELAY_MS = 20
/** Another node was firing it: after this delay that is over. */
const LOST_RACE_DELAY_MS = 50

/** Keeps the window filled with the schedules that this node has to check soon. */
export interface DueSchedules {
  readonly window: DueWindow
  /**
   * Reads from the store:
   * - the next part of the index of due times,
   * - schedules that users changed on this node,
   * - schedules whose runs have ended,
   * - schedules that another node may have changed.
   */
  refresh(): Promise<void>
  /** The schedule as it is after its firing. */
  fired(schedule: ScheduleRecord): void
  /** Its time has not come by another clock, or it cannot be fired ahead. */
  putOff(schedule: ScheduleRecord): void
  /** The store has another version of it, or its answer is unknown. */
  retry(schedule: ScheduleRecord): void
  /** Another node was firing it. */
  lostRace(schedule: ScheduleRecord): void
  /** These schedules were changed on this node. */
  changed(ids: readonly number[]): void
  /** A run that may belong to a schedule has ended. */
  ended(runId: number): void
  readonly hasUnread: boolean
  /** When there is something to read again, by the store's clock. */
  readonly readAt: number
  forget(): void
  /** The trusted time has changed. */
  clockMoved(): void
}

export function createDueSchedules(deps: {
  readonly store: Pick<
    ScheduleStore,
    'dueSchedules' | 'liveNodes' | 'findSchedules' | 'schedulesFollowing'
  >
  node(): number
  storeNow(): number
}): DueSchedules {
  const { store, storeNow } = deps
  const window = createDueWindow()
  const reader = createDueReader({ store, window, node: deps.node })
  const toRead = new Set<number>()
  /** Schedules to try again later, after another node won. */
  const lost = new Set<number>()
  let lostAt = 0
  const endedRuns = new Set<number>()

  const keep = (schedule: ScheduleRecord, isOthers = false) => {
    const { checkAt } = schedule.next
    if (checkAt === null || !reader.isNear(checkAt)) return
    window.put(schedule, isOthers ? checkAt + NON_OWNER_DELAY_MS : checkAt, isOthers)
  }

  const readChanged = async () => {
    if (endedRuns.size > 0) {
      const ids = await drainInto(endedRuns, (runIds) => store.schedulesFollowing(runIds))
      for (const id of ids) toRead.add(id)
    }
    if (lost.size > 0 && storeNow() >= lostAt) for (const id of drainSet(lost)) toRead.add(id)
    if (toRead.size === 0) return
    for (const schedule of await drainInto(toRead, (ids) => store.findSchedules(ids))) {
      const { nominalAt, checkAt } = schedule.next
      const isFollowing = nominalAt === null && checkAt !== null && schedule.pause === null
      if (isFollowing) window.put(schedule, storeNow(), true)
      else keep(schedule)
    }
  }

  const forget = () => {
    window.clear()
    reader.forget()
  }

  return {
    window,
    async refresh() {
      await reader.readAhead(storeNow())
      await readChanged()
    },
    fired: (schedule) => keep(schedule, !reader.isOurs(schedule.id)),
    putOff(schedule) {
      const { nominalAt, checkAt } = schedule.next
      window.put(schedule, Math.max(storeNow() + EARLY_MS, (nominalAt && checkAt) ?? 0), true)
    },
    retry: (schedule) => window.put(schedule, storeNow() + RETRY_MS),
    lostRace({ id }) {
      if (!reader.isOurs(id)) return
      lost.add(id)
      lostAt = storeNow() + LOST_RACE_DELAY_MS
    },
    changed(ids) {
      for (const id of ids) toRead.add(id)
    },
    ended: (runId) => void endedRuns.add(runId),
    get hasUnread() {
      return toRead.size > 0
    },
    get readAt() {
      return lost.size > 0 ? Math.min(reader.nextAt, lostAt) : reader.nextAt
    },
    forget,
    clockMoved() {
      forget()
      lostAt = 0
    },
  }
}
