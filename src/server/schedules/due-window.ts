import type { ScheduleRecord } from '../../store/port.ts'

/** A schedule this node means to look at, and when it is due, by the store's clock. */
export interface Entry {
  readonly schedule: ScheduleRecord
  readonly at: number
  /** Nothing can be done about it before. */
  readonly isForThen: boolean
}

/**
 * The schedules that are due in the next few seconds, in memory. Hints: the store decides in the end
 * whether anything fires. Each schedule is in here once, as it was last heard of.
 */
export interface Window {
  put(schedule: ScheduleRecord, at: number, isForThen?: boolean): void
  has(scheduleId: number): boolean
  /** Takes out what is due by `now`, the earliest first. */
  take(now: number, most: number): Entry[]
  /** The same before its time has come, of what need not wait for it. */
  takeAhead(until: number, most: number): Entry[]
  /** Some of those that are due by `until` and were not named before as they are; they stay. */
  upcoming(until: number, most: number): Entry[]
  /** How many are due by `until` that `takeAhead` would take; no more than `most`. */
  countAhead(until: number, most: number): number
  /** When the earliest is due. */
  readonly nextAt: number
  /** The same of what need not wait for it. */
  readonly nextAheadAt: number
  readonly size: number
  clear(): void
}

export function createWindow(): Window {
  const heap: Entry[] = []
  const forThen: Entry[] = []
  /** The same once more, less what `upcoming` has named: looking for the rest would visit all of those. */
  const unnamed: Entry[] = []
  /** The entry that counts; what else is in the heap for the same schedule is stale. */
  const latest = new Map<number, Entry>()

  const isStale = (entry: Entry) => latest.get(entry.schedule.id) !== entry
  const dropStale = (from: Entry[]) => {
    while (from[0] && isStale(from[0])) pop(from)
  }
  const nextIn = (from: Entry[]): number => {
    dropStale(from)
    return from[0]?.at ?? Number.POSITIVE_INFINITY
  }
  const takeFrom = (from: Entry[], until: number, most: number): Entry[] => {
    const taken: Entry[] = []
    for (dropStale(from); taken.length < most && from[0] && from[0].at <= until; dropStale(from)) {
      taken.push(pop(from) as Entry)
    }
    return taken
  }

  const forget = (taken: Entry[]): Entry[] => {
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
      // No entry of the heap is due before the one above it: where one is too late, so is all below.
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

function push(heap: Entry[], entry: Entry): void {
  let i = heap.length
  heap.push(entry)
  while (i > 0) {
    const parent = (i - 1) >> 1
    if ((heap[parent] as Entry).at <= entry.at) break
    heap[i] = heap[parent] as Entry
    i = parent
  }
  heap[i] = entry
}

function pop(heap: Entry[]): Entry | undefined {
  const first = heap[0]
  const last = heap.pop()
  if (!first || !last || heap.length === 0) return first
  let i = 0
  for (;;) {
    let child = 2 * i + 1
    if (child >= heap.length) break
    const right = child + 1
    if (right < heap.length && (heap[right] as Entry).at < (heap[child] as Entry).at) child = right
    if ((heap[child] as Entry).at >= last.at) break
    heap[i] = heap[child] as Entry
    i = child
  }
  heap[i] = last
  return first
}
