/** When a step may start, judged by how those it needs have ended. */
export const RULES = [
  'all-succeeded',
  'all-done',
  'any-succeeded',
  'any-failed',
  'none-failed',
  /** Like `all-done`, and even while the flow is being cancelled. */
  'always',
] as const
export type Rule = (typeof RULES)[number]

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
export function judge(rule: Rule, { total, left, ok, failed }: Tally): Verdict {
  switch (rule) {
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
    case 'always':
      return left === 0 ? 'yes' : 'not yet'
  }
}
