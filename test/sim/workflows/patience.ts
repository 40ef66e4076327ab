/** What has to happen soon, and since when. */
export interface Patience {
  /** Those of these that were true without a break for longer than `mostMs`. */
  overdue(claims: Iterable<string>, nowMs: number): string[]
}

export function createPatience(mostMs: number): Patience {
  let since = new Map<string, number>()
  return {
    overdue(claims, nowMs) {
      since = new Map([...claims].map((claim) => [claim, since.get(claim) ?? nowMs]))
      return [...since].filter(([, sinceMs]) => nowMs - sinceMs > mostMs).map(([claim]) => claim)
    },
  }
}
