import type { RecordedAttempt } from '../attempts.ts'
import type { Traits } from '../history.ts'
import type { Violation } from '../violation.ts'

/** A gate never has more running runs than its limit. */
export function gateInvariants(
  attempts: readonly RecordedAttempt[],
  traitsOf: ReadonlyMap<string, Traits>,
): Violation[] {
  const gated = attempts.filter(({ run }) => traitsOf.get(run)?.gate !== undefined)
  const byGate = Map.groupBy(gated, ({ run }) => traitsOf.get(run)?.gate ?? '')
  return [...byGate].flatMap(([gate, own]) => {
    const limit = Math.max(...own.map(({ run }) => traitsOf.get(run)?.limit ?? 0))
    const most = mostAtOnce(own)
    if (most <= limit) return []
    const detail = `lets ${limit} through and had ${most} at once`
    return [{ invariant: 'a gate is not exceeded', subject: gate, detail } as const]
  })
}

/** Sweeps over the starts and ends in time order; at the same instant, ends come first. */
function mostAtOnce(attempts: readonly RecordedAttempt[]): number {
  const changes = attempts
    .flatMap(({ startNs, answersUntilNs }) => [
      { atNs: startNs, by: 1 },
      { atNs: answersUntilNs, by: -1 },
    ])
    .toSorted((a, b) => a.atNs - b.atNs || a.by - b.by)
  let now = 0
  let most = 0
  for (const { by } of changes) {
    now += by
    most = Math.max(most, now)
  }
  return most
}
