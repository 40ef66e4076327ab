/** Finds conditions that stay true for too long. */
export interface OverdueTracker {
  /** Those claims that were true without a break for longer than `maxMs`. */
  overdue(claims: Iterable<string>, nowMs: number): string[]
}

export function createOverdueTracker(maxMs: number): OverdueTracker {
  let since = new Map<string, number>()
  return {
    overdue(claims, nowMs) {
      since = new Map([...claims].map((claim) => [claim, since.get(claim) ?? nowMs]))
      return [...since].filter(([, sinceMs]) => nowMs - sinceMs > maxMs).map(([claim]) => claim)
    },
  }
}
