import type { SimpleCron } from './simple-cron.ts'
import type { Clocks } from './tzif.ts'

export interface Policy {
  readonly gap: 'run-after' | 'skip'
  readonly repeat: 'first' | 'both' | 'last'
}

/** The largest clock change ever. */
const FAR = 26 * 3_600

/**
 * The fires in [from, to], found by checking every minute or second: the local time, whether it occurs again at
 * another instant, and the local times skipped by a change.
 */
export function walk(
  cron: SimpleCron,
  clocks: Clocks,
  policy: Policy,
  from: number,
  to: number,
): number[] {
  const changes = clocks.changes(from - FAR, to + FAR)
  const offsets = [...new Set([from - FAR, ...changes].map((at) => clocks.offsetAt(at)))]
  const isWhole = offsets.every((offset) => offset % 60 === 0)
  const tick = cron.hasSeconds || !isWhole ? 1 : 60
  const fires = new Set<number>()

  let offset = clocks.offsetAt(from)
  let ahead = changes.filter((change) => change > from)
  for (let at = Math.ceil(from / tick) * tick; at <= to; at += tick) {
    if (at >= ahead[0]!) {
      offset = clocks.offsetAt(at)
      ahead = ahead.filter((change) => change > at)
    }
    if (cron.matches(at + offset) && counts(at, at + offset)) fires.add(at)
  }
  for (const change of changes) {
    const before = clocks.offsetAt(change - 1)
    const jump = clocks.offsetAt(change) - before
    if (change < from || change > to || jump <= 0) continue
    if (policy.gap === 'run-after' && meansClocks(cron, jump) && isNamed(change + before, jump)) {
      fires.add(change)
    }
  }
  return [...fires].toSorted((a, b) => a - b)

  /** Whether the rule names any of the skipped local seconds. */
  function isNamed(firstLeftOut: number, count: number): boolean {
    for (let local = firstLeftOut; local < firstLeftOut + count; local++) {
      if (cron.matches(local)) return true
    }
    return false
  }

  /** Whether this instant is the wanted one if its local time occurs twice. */
  function counts(at: number, local: number): boolean {
    if (policy.repeat === 'both') return true
    for (const offset of offsets) {
      const other = local - offset
      if (other === at || other + clocks.offsetAt(other) !== local) continue
      if (!meansClocks(cron, Math.abs(other - at))) continue
      if (policy.repeat === 'first' ? at > other : at < other) return false
    }
    return true
  }
}

/**
 * Whether the rule means local times rather than elapsed time: the hours decide, and below an hour the minutes
 * too.
 */
function meansClocks({ starHours, starMinutes }: SimpleCron, jump: number): boolean {
  return !starHours || (jump < 3_600 && !starMinutes)
}
