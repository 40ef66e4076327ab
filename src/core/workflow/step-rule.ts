import type { When } from './definition.ts'

/** How many of those needed have not ended yet, and how the others did; the rest was skipped. */
export interface Tally {
  readonly total: number
  readonly left: number
  readonly ok: number
  readonly failed: number
}

/** `never`: whatever the others do, it cannot come true any more. */
export type Verdict = 'yes' | 'not yet' | 'never'

/**
 * Asked at every ending, so that a rule which one ending decides need not wait for the others. Once it
 * has said yes or never it goes on saying so, in whichever order the rest of the news comes in.
 */
export function judge(when: When, { total, left, ok, failed }: Tally): Verdict {
  switch (when) {
    case 'all-succeeded':
      if (ok + left < total) return 'never'
      return left === 0 ? 'yes' : 'not yet'
    case 'none-failed':
      if (failed > 0) return 'never'
      return left === 0 ? 'yes' : 'not yet'
    case 'any-succeeded':
      if (ok > 0) return 'yes'
      return left === 0 ? 'never' : 'not yet'
    case 'any-failed':
      if (failed > 0) return 'yes'
      return left === 0 ? 'never' : 'not yet'
    case 'all-done':
    // The same, and even while the flow is being stopped: `outlivesStop` of the graph.
    case 'always':
      return left === 0 ? 'yes' : 'not yet'
  }
}
