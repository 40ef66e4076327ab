import { hashFraction } from '../rule/hash.ts'
import type { MinuteCounts } from '../rule/minute-counts.ts'
import type { FiringGroup } from './groups.ts'

const MINUTE_MS = 60_000

/** Schedules that repeatedly fire at the same second. */
export interface Collision {
  /** The first common time. */
  readonly at: number
  /** Number of common times. */
  readonly times: number
  /** Indices into the given schedules. */
  readonly schedules: readonly number[]
}

export interface CollisionSearch {
  /** Adds a group whose times may coincide with those of the groups added before. */
  add(group: FiringGroup, counts: MinuteCounts): void
  /** The largest collisions, in descending order. */
  find(): Generator<void, Collision[]>
}

/** Number of collisions in the result; the others are smaller. */
const MAX_SHOWN = 10
/** Maximum number of the fullest minutes, and of distinct sets of schedules, that are searched. */
const MAX_CANDIDATES = 50_000
const SETS = 10_000

/**
 * Finds schedules that fire together. For each minute it keeps the number of firing schedules and a hash of their
 * set, so memory depends on the number of minutes only. For the largest sets, the rules are evaluated to find
 * the schedules that fire in the same second.
 */
export function createCollisions(from: number, until: number): CollisionSearch {
  const firstMinute = Math.floor(from / MINUTE_MS)
  const length = Math.ceil(until / MINUTE_MS) - firstMinute
  const sizes = new Uint32Array(length)
  const companies = new Uint32Array(length)
  const groups: FiringGroup[] = []
  let maxAtOnce = 0

  /** Minimum number of schedules in a minute for it to be among the fullest. */
  const minimumSize = (): number => {
    const minutes = new Uint32Array(maxAtOnce + 1)
    for (const size of sizes) minutes[size] = (minutes[size] as number) + 1
    let size = minutes.findLastIndex((count) => count > 0)
    let candidates = minutes[size] as number
    for (; size > 2; size--) {
      candidates += minutes[size - 1] as number
      if (candidates > MAX_CANDIDATES) break
    }
    return Math.max(2, size)
  }

  const largest = (): ScheduleSet[] => {
    const enough = minimumSize()
    const known = new Map<number, ScheduleSet>()
    for (let minute = 0; minute < length; minute++) {
      const size = sizes[minute] as number
      if (size < enough) continue
      const key = size * 2 ** 32 + (companies[minute] as number)
      const set = known.get(key)
      if (set) set.times += 1
      else if (known.size < SETS) known.set(key, { size, minute, times: 1 })
    }
    return [...known.values()].toSorted((a, b) => b.size - a.size || b.times - a.times)
  }

  return {
    add(group, { fires }) {
      groups.push(group)
      const { length: size } = group.members
      maxAtOnce += size
      const hash = Math.floor(hashFraction(`${groups.length}`) * 2 ** 32)
      for (let minute = 0; minute < length; minute++) {
        if (fires[minute] === 0) continue
        sizes[minute] = (sizes[minute] as number) + size
        companies[minute] = (companies[minute] as number) + hash
      }
    },

    *find() {
      const found: Collision[] = []
      for (const { minute, times } of largest()) {
        const start = (firstMinute + minute) * MINUTE_MS
        const end = Math.min(until, start + MINUTE_MS)
        const common = findCommonSecond(groups, Math.max(from, start), end)
        yield
        if (common) found.push({ ...common, times })
        if (found.length === MAX_SHOWN) break
      }
      return found.toSorted((a, b) => b.schedules.length - a.schedules.length || b.times - a.times)
    },
  }
}

interface ScheduleSet {
  readonly size: number
  /** The first minute in which the set fires together. */
  readonly minute: number
  times: number
}

/** The second in [start, end) in which most of them fire, if more than one does. */
function findCommonSecond(
  groups: readonly FiringGroup[],
  start: number,
  end: number,
): Pick<Collision, 'at' | 'schedules'> | null {
  const meetings = new Map<number, number[]>()
  for (const { rule, periodMs, from, members } of groups) {
    if (periodMs !== null) continue
    for (let at = rule.next(Math.max(start, from) - 1); at !== null && at < end;) {
      const second = at - (at % 1_000)
      meetings.set(second, [...(meetings.get(second) ?? []), ...members])
      at = rule.next(at)
    }
  }
  let best: Pick<Collision, 'at' | 'schedules'> | null = null
  for (const [at, schedules] of meetings) {
    if (schedules.length < 2 || schedules.length < (best?.schedules.length ?? 0)) continue
    const isEarlier = best?.schedules.length === schedules.length && best.at < at
    if (!isEarlier) best = { at, schedules }
  }
  return best
}
