/** What has to be known of a rule to walk along its times. Strictly increasing, without end or with one. */
export interface Times {
  /** The first one strictly after; null when there is none any more. */
  next(after: number): number | null
}

export interface Newest {
  /** Ascending. */
  readonly times: readonly number[]
  /** Whether there are others before these, from `first` on. */
  readonly isCut: boolean
}

const FIRST_LOOK_MS = 1_000
/** A cut finer than this finds at most a few times more than it has to. */
const FINEST_MS = 1_000

/**
 * The last `most` times from `first` on up to `now`. Walking there from `first` could take for ever (a
 * year of seconds), so it looks back from `now` instead, further each time, and cuts what is too much
 * in halves: some dozens of walks of `most` steps, whatever the rule and however long ago `first` was.
 */
export function newestTimes(rule: Times, first: number, now: number, most: number): Newest {
  const all = walk(rule, first, now, most + 1)
  if (all.length <= most) return { times: all, isCut: false }
  let enough = first
  let tooFew = now
  for (let ms = FIRST_LOOK_MS; now - ms > first; ms *= 2) {
    if (hasAtLeast(rule, now - ms, now, most)) {
      enough = now - ms
      break
    }
    tooFew = now - ms
  }
  while (tooFew - enough > FINEST_MS) {
    const middle = Math.floor((enough + tooFew) / 2)
    if (hasAtLeast(rule, middle, now, most)) enough = middle
    else tooFew = middle
  }
  const times: number[] = []
  for (let at = from(rule, enough); at !== null && at <= now; at = rule.next(at)) times.push(at)
  return { times: times.slice(-most), isCut: true }
}

/** How many there are in [first, until], counted up to `most`; null when there are more. */
export function countTimes(rule: Times, first: number, until: number, most: number): number | null {
  const count = walk(rule, first, until, most + 1).length
  return count > most ? null : count
}

function hasAtLeast(rule: Times, since: number, now: number, count: number): boolean {
  return walk(rule, since, now, count).length === count
}

/** The first `most` in [since, until]. */
function walk(rule: Times, since: number, until: number, most: number): number[] {
  const found: number[] = []
  for (let at = from(rule, since); at !== null && at <= until; at = rule.next(at)) {
    found.push(at)
    if (found.length === most) break
  }
  return found
}

function from(rule: Times, since: number): number | null {
  return rule.next(since - 1)
}
