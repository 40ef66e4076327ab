import type { StepRule } from '../definition.ts'

/** The number of needed steps that have not ended, and the outcomes of the others; the rest was skipped. */
export interface NeedCounts {
  readonly total: number
  readonly pending: number
  readonly ok: number
  readonly failed: number
}

/** `never`: the rule can no longer be met, whatever the remaining steps do. */
export type RuleVerdict = 'yes' | 'not yet' | 'never'

/**
 * Evaluated whenever a step ends, so that a rule does not wait for steps that make no difference. Once the result is
 * `yes` or `never` it does not change, in whatever order the other steps end.
 */
export function evaluateRule(
  when: StepRule,
  { total, pending, ok, failed }: NeedCounts,
): RuleVerdict {
  switch (when) {
    case 'all-succeeded':
      if (ok + pending < total) return 'never'
      return pending === 0 ? 'yes' : 'not yet'
    case 'none-failed':
      if (failed > 0) return 'never'
      return pending === 0 ? 'yes' : 'not yet'
    case 'any-succeeded':
      if (ok > 0) return 'yes'
      return pending === 0 ? 'never' : 'not yet'
    case 'any-failed':
      if (failed > 0) return 'yes'
      return pending === 0 ? 'never' : 'not yet'
    case 'all-done':
    // The same, and also while the workflow is being stopped: see `outlivesStop` of the graph.
    case 'always':
      return pending === 0 ? 'yes' : 'not yet'
  }
}
