/** The part of a rule needed to walk along its times. The times are strictly increasing and may end. */
export interface TimeSequence {
  /** The first time strictly after the given one; null if there is none. */
  next(after: number): number | null
}

export interface NewestTimes {
  /** Ascending. */
  readonly times: readonly number[]
  /** Whether there are earlier times from `first` on. */
  readonly isCut: boolean
}

const FIRST_STEP_BACK_MS = 1_000
/** A finer search would save only a few steps of the final walk. */
const FINEST_MS = 1_000

/**
 * The last `max` times in [first, now]. A walk from `first` could take too long (a year of seconds), so the search
 * steps back from `now` in growing steps and then halves the interval: some dozens of walks of `max` steps each, for
 * any rule and any `first`.
 */
export function newestTimes(
  rule: TimeSequence,
  first: number,
  now: number,
  max: number,
): NewestTimes {
  const all = walk(rule, first, now, max + 1)
  if (all.length <= max) return { times: all, isCut: false }
  let enough = first
  let tooFew = now
  for (let ms = FIRST_STEP_BACK_MS; now - ms > first; ms *= 2) {
    if (hasAtLeast(rule, now - ms, now, max)) {
      enough = now - ms
      break
    }
    tooFew = now - ms
  }
  while (tooFew - enough > FINEST_MS) {
    const middle = Math.floor((enough + tooFew) / 2)
    if (hasAtLeast(rule, middle, now, max)) enough = middle
    else tooFew = middle
  }
  const times: number[] = []
  for (let at = from(rule, enough); at !== null && at <= now; at = rule.next(at)) times.push(at)
  return { times: times.slice(-max), isCut: true }
}

/** The number of times in [first, until]; null if there are more than `max`. */
export function countTimes(
  rule: TimeSequence,
  first: number,
  until: number,
  max: number,
): number | null {
  const count = walk(rule, first, until, max + 1).length
  return count > max ? null : count
}

function hasAtLeast(rule: TimeSequence, since: number, now: number, count: number): boolean {
  return walk(rule, since, now, count).length === count
}

/** The first `max` times in [since, until]. */
function walk(rule: TimeSequence, since: number, until: number, max: number): number[] {
  const found: number[] = []
  for (let at = from(rule, since); at !== null && at <= until; at = rule.next(at)) {
    found.push(at)
    if (found.length === max) break
  }
  return found
}

function from(rule: TimeSequence, since: number): number | null {
  return rule.next(since - 1)
}
