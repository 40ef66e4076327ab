import { hashFraction } from '../rule/hash.ts'
import type { MinuteCounts } from '../rule/minute-counts.ts'
import type { Group } from './groups.ts'

const MINUTE_MS = 60_000

/** Schedules that fire at the same instant, again and again. */
export interface Collision {
  /** The first time. */
  readonly at: number
  /** How often they do. */
  readonly times: number
  /** Indices of the schedules that were given. */
  readonly schedules: readonly number[]
}

export interface CollisionSearch {
  /** Its times, and those of others that were added before, may fall together. */
  add(group: Group, counts: MinuteCounts): void
  /** The largest ones, in descending order. */
  find(): Generator<void, Collision[]>
}

/** So many are told; what comes after them is smaller. */
const TOLD = 10
/** The largest are looked for among so many of the fullest minutes, and so many different companies. */
const LOOKED_AT = 50_000
const COMPANIES = 10_000

/**
 * Looks for schedules that fire together. A minute knows how many fire in it, and a hash of which:
 * memory is that of the minutes, however many schedules there are. Of the largest companies found so,
 * the rules themselves say who of them fires in the very same second.
 */
export function createCollisions(from: number, until: number): CollisionSearch {
  const firstMinute = Math.floor(from / MINUTE_MS)
  const length = Math.ceil(until / MINUTE_MS) - firstMinute
  const sizes = new Uint32Array(length)
  const companies = new Uint32Array(length)
  const groups: Group[] = []
  let mostAtOnce = 0

  /** How many have to fire in a minute for it to be among the fullest. */
  const least = (): number => {
    const minutes = new Uint32Array(mostAtOnce + 1)
    for (const size of sizes) minutes[size] = (minutes[size] as number) + 1
    let size = minutes.findLastIndex((count) => count > 0)
    let looked = minutes[size] as number
    for (; size > 2; size--) {
      looked += minutes[size - 1] as number
      if (looked > LOOKED_AT) break
    }
    return Math.max(2, size)
  }

  const largest = (): Company[] => {
    const enough = least()
    const known = new Map<number, Company>()
    for (let minute = 0; minute < length; minute++) {
      const size = sizes[minute] as number
      if (size < enough) continue
      const key = size * 2 ** 32 + (companies[minute] as number)
      const company = known.get(key)
      if (company) company.times += 1
      else if (known.size < COMPANIES) known.set(key, { size, minute, times: 1 })
    }
    return [...known.values()].toSorted((a, b) => b.size - a.size || b.times - a.times)
  }

  return {
    add(group, { fires }) {
      groups.push(group)
      const { length: size } = group.members
      mostAtOnce += size
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
        const meeting = meetingIn(groups, Math.max(from, start), end)
        yield
        if (meeting) found.push({ ...meeting, times })
        if (found.length === TOLD) break
      }
      return found.toSorted((a, b) => b.schedules.length - a.schedules.length || b.times - a.times)
    },
  }
}

interface Company {
  readonly size: number
  /** The first in which it meets. */
  readonly minute: number
  times: number
}

/** The second in [start, end) in which most of them fire, if it is more than one. */
function meetingIn(
  groups: readonly Group[],
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
