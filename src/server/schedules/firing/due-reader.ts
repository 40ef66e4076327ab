import type { DueCursor, ScheduleRecord, ScheduleStore } from '../../../store/port.ts'
import { scheduleOwner } from './schedule-owner.ts'
import type { DueWindow } from './due-window.ts'

/** How far ahead a node reads due times. */
const HORIZON_MS = 8_000
/** How often it reads further: well before it reaches the end of what it knows. */
const READ_PERIOD_MS = 3_000
/** Every tenth read starts over: other nodes may have changed schedules it has read. */
const FULL_READ_EVERY = 10
/** A schedule that is this late may be fired by any node. */
const OVERDUE_MS = 2_000
const OVERDUE_EVERY_MS = 1_000
const PAGE = 1_000
/** Later entries are read when there is space again. */
const MAX_READ_AHEAD = 100_000
const LAST_ID = Number.MAX_SAFE_INTEGER

export interface DueReader {
  /** Reads further into the window if it is time to. */
  readAhead(now: number): Promise<void>
  /** No read is needed before this time of the store's clock. */
  readonly nextAt: number
  /** Whether this node should fire it. */
  isOurs(scheduleId: number): boolean
  /** Whether a schedule due then would have been read by now; later ones are read in time. */
  isNear(checkAt: number): boolean
  /** Reads everything again. */
  forget(): void
}

/** Reads the store's index of due times a few seconds ahead, each part of it once. */
export function createDueReader(deps: {
  readonly store: Pick<ScheduleStore, 'dueSchedules' | 'liveNodes'>
  readonly window: DueWindow
  node(): number
}): DueReader {
  const { store, window } = deps
  let nodes: readonly number[] = []
  /** The index has been read up to here. */
  let place: DueCursor | null = null
  let aheadAt = Number.NEGATIVE_INFINITY
  let overdueAt = Number.NEGATIVE_INFINITY
  let readAt = Number.NEGATIVE_INFINITY
  let reads = 0

  const isOurs = (scheduleId: number) =>
    (scheduleOwner(scheduleId, nodes) ?? deps.node()) === deps.node()

  const readNodes = async () => {
    const alive = await store.liveNodes()
    const here = alive.includes(deps.node()) ? alive : [...alive, deps.node()]
    // Schedules of another node may belong to this one now and have been passed over.
    if (here.join() !== nodes.join()) place = null
    nodes = here
  }

  const readFurther = async (until: number) => {
    if (reads % FULL_READ_EVERY === 0) place = null
    reads += 1
    while (window.size < MAX_READ_AHEAD) {
      const page: readonly ScheduleRecord[] = await store.dueSchedules({
        after: place,
        until,
        limit: PAGE,
      })
      for (const schedule of page) if (isOurs(schedule.id)) offer(schedule)
      const last = page.at(-1)
      const isAll = page.length < PAGE
      if (isAll) place = { checkAt: until, id: LAST_ID }
      else if (last) place = { checkAt: last.next.checkAt as number, id: last.id }
      if (isAll) return
    }
  }

  const offer = (schedule: ScheduleRecord) => {
    if (!window.has(schedule.id)) window.put(schedule, schedule.next.checkAt as number)
  }

  const forget = () => {
    place = null
    aheadAt = Number.NEGATIVE_INFINITY
    overdueAt = Number.NEGATIVE_INFINITY
  }

  /**
   * The clock was set back. Times between then and now have not been read as future ones, and
   * entries of the window may wait for a distant time while other nodes fire the schedule before
   * it.
   */
  const startAnew = () => {
    forget()
    window.clear()
  }

  return {
    isOurs,
    isNear: (checkAt) => place !== null && checkAt <= place.checkAt,
    get nextAt() {
      return Math.min(aheadAt, overdueAt)
    },
    async readAhead(now) {
      if (readAt - now > OVERDUE_MS) startAnew()
      readAt = now
      if (now >= aheadAt || aheadAt > now + READ_PERIOD_MS) {
        await readNodes()
        await readFurther(now + HORIZON_MS)
        aheadAt = now + READ_PERIOD_MS
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
