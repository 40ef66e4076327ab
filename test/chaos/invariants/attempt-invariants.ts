import type { RecordedAttempt } from '../attempts.ts'
import type { History, Traits } from '../history.ts'
import type { Violation } from '../violation.ts'

/** Wall clocks decide when a run is due, and NTP adjusts them slightly against the monotonic clock. */
const EARLY_NS = 50_000_000

/** Attempts of a run do not overlap, start in time, and stay within the allowed number. */
export function attemptInvariants(
  { faults, dump }: History,
  attempts: readonly RecordedAttempt[],
  traitsOf: ReadonlyMap<string, Traits>,
): Violation[] {
  const byRun = Map.groupBy(attempts, ({ run }) => run)
  const stored = new Set(dump.runs.map(({ run }) => run))
  return [
    ...[...byRun.keys()]
      .filter((run) => !stored.has(run))
      .map((run): Violation => ({
        invariant: 'a started run exists',
        subject: run,
        detail: 'was started, and the database does not have it',
      })),
    ...[...byRun].flatMap(([run, own]) => judgeRun(run, own, traitsOf.get(run) ?? {})),
    ...attempts
      .filter(({ endNs }) => endNs === Infinity)
      .map(({ run, fence, worker }): Violation => ({
        invariant: 'an attempt ends',
        subject: run,
        detail: `was started by ${worker} under fence ${fence}, and no end is on record`,
      })),
    ...faults
      .filter(({ kind }) => kind === 'died')
      .map(({ target }): Violation => ({
        invariant: 'no process dies by itself',
        subject: target,
        detail: 'ended by itself',
      })),
  ]
}

function judgeRun(run: string, attempts: readonly RecordedAttempt[], traits: Traits): Violation[] {
  const violations: Violation[] = []
  const report = (invariant: Violation['invariant'], detail: string) =>
    violations.push({ invariant, subject: run, detail })
  const fences = attempts.map(({ fence }) => fence)
  if (new Set(fences).size < fences.length) {
    report('a fence is one attempt', `was started under fences ${fences.join(', ')}`)
  }
  if (traits.atMostOnce && attempts.length > 1) {
    report('at most once is at most once', `was started ${attempts.length} times`)
  }
  if (attempts.length > (traits.maxStarts ?? Infinity)) {
    report('starts are bounded', `was started ${attempts.length} times`)
  }
  const [first] = attempts
  if (first && traits.dueNs !== undefined && first.startNs < traits.dueNs - EARLY_NS) {
    const earlyMs = (traits.dueNs - first.startNs) / 1e6
    report('a run does not start early', `was started ${earlyMs.toFixed(0)} ms before its time`)
  }
  for (const [a, b] of overlaps(attempts)) {
    if (a.answersUntilNs <= b.startNs) continue
    const ms = (Math.min(a.endNs, b.endNs) - b.startNs) / 1e6
    const who = `fence ${a.fence} on ${a.worker} and fence ${b.fence} on ${b.worker}`
    report('attempts do not overlap', `ran twice for ${ms.toFixed(1)} ms: ${who}`)
  }
  return violations
}

/** Number of overlaps that only a fence could make harmless. */
export function countZombies(attempts: readonly RecordedAttempt[]): number {
  const byRun = Map.groupBy(attempts, ({ run }) => run)
  return [...byRun.values()]
    .flatMap((own) => overlaps(own))
    .filter(([a, b]) => a.answersUntilNs <= b.startNs).length
}

/** Pairs that ran at the same time; attempts are sorted by start. */
function overlaps(attempts: readonly RecordedAttempt[]): [RecordedAttempt, RecordedAttempt][] {
  return attempts.flatMap((later, index) =>
    attempts
      .slice(0, index)
      .filter((earlier) => earlier.endNs > later.startNs)
      .map((earlier): [RecordedAttempt, RecordedAttempt] => [earlier, later]),
  )
}
