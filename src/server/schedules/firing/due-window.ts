import type { ScheduleRecord } from '../../../store/port.ts'

/** A schedule that this node will check, and when, by the store's clock. */
export interface DueEntry {
  readonly schedule: ScheduleRecord
  readonly at: number
  /** Nothing can be done about it before that time. */
  readonly isForThen: boolean
}

/**
 * The schedules that are due in the next few seconds, in memory. Hints only: the store decides
 * whether anything fires. Each schedule occurs once, in its latest known version.
 */
export interface DueWindow {
  put(schedule: ScheduleRecord, at: number, isForThen?: boolean): void
  has(scheduleId: number): boolean
  /** Takes the entries due by `now`, earliest first. */
  take(now: number, most: number): DueEntry[]
  /** Like `take`, but before the time has come, for entries that need not wait for it. */
  takeAhead(until: number, most: number): DueEntry[]
  /**
   * Some entries due by `until` that were not returned before in this version; they stay in the
   * window.
   */
  upcoming(until: number, most: number): DueEntry[]
  /** Number of entries due by `until` that `takeAhead` would take; at most `most`. */
  countAhead(until: number, most: number): number
  /** When the earliest entry is due. */
  readonly nextAt: number
  /** Like `nextAt`, for entries that need not wait for their time. */
  readonly nextAheadAt: number
  readonly size: number
  clear(): void
}

export function createDueWindow(): DueWindow {
  const heap: DueEntry[] = []
  const forThen: DueEntry[] = []
  /**
   * Entries not yet returned by `upcoming`, as a heap of their own: searching all entries would
   * visit the returned ones too.
   */
  const unnamed: DueEntry[] = []
  /** The valid entry per schedule; other entries in the heap for the same schedule are stale. */
  const latest = new Map<number, DueEntry>()

  const isStale = (entry: DueEntry) => latest.get(entry.schedule.id) !== entry
  const dropStale = (from: DueEntry[]) => {
    while (from[0] && isStale(from[0])) pop(from)
  }
  const nextIn = (from: DueEntry[]): number => {
    dropStale(from)
    return from[0]?.at ?? Number.POSITIVE_INFINITY
  }
  const takeFrom = (from: DueEntry[], until: number, most: number): DueEntry[] => {
    const taken: DueEntry[] = []
    for (dropStale(from); taken.length < most && from[0] && from[0].at <= until; dropStale(from)) {
      taken.push(pop(from) as DueEntry)
    }
    return taken
  }

  const forget = (taken: DueEntry[]): DueEntry[] => {
    for (const { schedule } of taken) latest.delete(schedule.id)
    dropStale(unnamed)
    return taken
  }

  return {
    put(schedule, at, isForThen = false) {
      const entry = { schedule, at, isForThen }
      latest.set(schedule.id, entry)
      push(isForThen ? forThen : heap, entry)
      push(unnamed, entry)
    },
    has: (scheduleId) => latest.has(scheduleId),
    take(now, most) {
      const first = takeFrom(forThen, now, most)
      return forget([...first, ...takeFrom(heap, now, most - first.length)])
    },
    takeAhead: (until, most) => forget(takeFrom(heap, until, most)),
    upcoming: (until, most) => takeFrom(unnamed, until, most),
    countAhead(until, most) {
      let count = 0
      // An entry is never due before its parent in the heap, so a subtree whose root is too late
      // can be skipped.
      const below = [0]
      for (let i = below.pop(); i !== undefined && count < most; i = below.pop()) {
        const entry = heap[i]
        if (!entry || entry.at > until) continue
        if (!isStale(entry)) count += 1
        below.push(2 * i + 2, 2 * i + 1)
      }
      return count
    },
    get nextAt() {
      return Math.min(nextIn(heap), nextIn(forThen))
    },
    get nextAheadAt() {
      return nextIn(heap)
    },
    get size() {
      return latest.size
    },
    clear() {
      heap.length = 0
      forThen.length = 0
      unnamed.length = 0
      latest.clear()
    },
  }
}

function push(heap: DueEntry[], entry: DueEntry): void {
  let i = heap.length
  heap.push(entry)
  while (i > 0) {
    const parent = (i - 1) >> 1
    if ((heap[parent] as DueEntry).at <= entry.at) break
    heap[i] = heap[parent] as DueEntry
    i = parent
  }
  heap[i] = entry
}

function pop(heap: DueEntry[]): DueEntry | undefined {
  const first = heap[0]
  const last = heap.pop()
  if (!first || !last || heap.length === 0) return first
  let i = 0
  for (;;) {
    let child = 2 * i + 1
    if (child >= heap.length) break
    const right = child + 1
    if (right < heap.length && (heap[right] as DueEntry).at < (heap[child] as DueEntry).at)
      child = right
    if ((heap[child] as DueEntry).at >= last.at) break
    heap[i] = heap[child] as DueEntry
    i = child
  }
  heap[i] = last
  return first
}
