import type { DuePlace, ScheduleRecord, ScheduleStore } from '../../store/port.ts'
import { ownerOf } from './schedule-owner.ts'
import type { Window } from './due-window.ts'

/** How far ahead a node knows what will be due. */
const AHEAD_MS = 8_000
/** How often it looks further: well before it has come to the end of what it knows. */
const LOOK_EVERY_MS = 3_000
/** How often it looks at all of it again: others may have changed what it has read. */
const FROM_THE_START = 10
/** So much later than it should a schedule is anybody's. */
const OVERDUE_MS = 2_000
const OVERDUE_EVERY_MS = 1_000
const PAGE = 1_000
/** What is beyond is read when there is room for it again. */
const MOST_AHEAD = 100_000
const LAST_ID = Number.MAX_SAFE_INTEGER

export interface LookAhead {
  /** Brings into the window what has come near, if it is time to look. */
  look(now: number): Promise<void>
  /** Until then there is no need to look, by the store's clock. */
  readonly nextAt: number
  /** Whether this node is the one to fire it. */
  isOurs(scheduleId: number): boolean
  /** Whether a schedule due then would have been seen by now: those that are not come by themselves. */
  isNear(lookAt: number): boolean
  /** Everything is read anew. */
  forget(): void
}

/** Reads the store's index of due times a few seconds ahead, each part of it once. */
export function createLookAhead(deps: {
  readonly store: Pick<ScheduleStore, 'dueSchedules' | 'liveNodes'>
  readonly window: Window
  node(): number
}): LookAhead {
  const { store, window } = deps
  let nodes: readonly number[] = []
  /** Up to here it has been read. */
  let place: DuePlace | null = null
  let aheadAt = Number.NEGATIVE_INFINITY
  let overdueAt = Number.NEGATIVE_INFINITY
  let lookedAt = Number.NEGATIVE_INFINITY
  let looks = 0

  const isOurs = (scheduleId: number) => (ownerOf(scheduleId, nodes) ?? deps.node()) === deps.node()

  const meetNodes = async () => {
    const alive = await store.liveNodes()
    const here = alive.includes(deps.node()) ? alive : [...alive, deps.node()]
    // What was another's a moment ago may be ours now, and has been read past.
    if (here.join() !== nodes.join()) place = null
    nodes = here
  }

  const lookFurther = async (until: number) => {
    if (looks % FROM_THE_START === 0) place = null
    looks += 1
    while (window.size < MOST_AHEAD) {
      const page: readonly ScheduleRecord[] = await store.dueSchedules({
        after: place,
        until,
        limit: PAGE,
      })
      for (const schedule of page) if (isOurs(schedule.id)) offer(schedule)
      const last = page.at(-1)
      const isAll = page.length < PAGE
      if (isAll) place = { lookAt: until, id: LAST_ID }
      else if (last) place = { lookAt: last.next.lookAt as number, id: last.id }
      if (isAll) return
    }
  }

  const offer = (schedule: ScheduleRecord) => {
    if (!window.has(schedule.id)) window.put(schedule, schedule.next.lookAt as number)
  }

  const forget = () => {
    place = null
    aheadAt = Number.NEGATIVE_INFINITY
    overdueAt = Number.NEGATIVE_INFINITY
  }

  /**
   * A clock was set back. What lies between then and now was not read as being ahead, and what is in the
   * window may wait for a time that is far off, while others go on with the schedule before that.
   */
  const startAnew = () => {
    forget()
    window.clear()
  }

  return {
    isOurs,
    isNear: (lookAt) => place !== null && lookAt <= place.lookAt,
    get nextAt() {
      return Math.min(aheadAt, overdueAt)
    },
    async look(now) {
      if (lookedAt - now > OVERDUE_MS) startAnew()
      lookedAt = now
      if (now >= aheadAt || aheadAt > now + LOOK_EVERY_MS) {
        await meetNodes()
        await lookFurther(now + AHEAD_MS)
        aheadAt = now + LOOK_EVERY_MS
      }
      if (now >= overdueAt || overdueAt > now + OVERDUE_EVERY_MS) {
        const overdue = { after: null, until: now - OVERDUE_MS, limit: PAGE }
        for (const schedule of await store.dueSchedules(overdue)) offer(schedule)
        overdueAt = now + OVERDUE_EVERY_MS
      }
    },
    forget,
  }
}
