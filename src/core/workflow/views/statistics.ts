import type { RunState } from '../../run/run-state.ts'
import type { WireStepStatistics } from './step-views.ts'

export interface EndedRun {
  readonly state: RunState
  readonly startedAt: number | null
  readonly finishedAt: number | null
}

/** Statistics of the latest runs of a step; runs that have not ended are not counted. */
export function statisticsOf(runs: readonly EndedRun[]): WireStepStatistics {
  const ended = runs.filter(({ finishedAt }) => finishedAt !== null)
  const succeeded = ended.filter(({ state }) => state === 'succeeded')
  const tookMs = succeeded
    .flatMap(({ startedAt, finishedAt }) =>
      startedAt === null || finishedAt === null ? [] : [finishedAt - startedAt],
    )
    .toSorted((a, b) => a - b)
  return {
    runs: ended.length,
    succeeded: succeeded.length,
    failed: ended.filter(({ state }) => state === 'failed').length,
    p50_ms: quantile(tookMs, 0.5),
    p95_ms: quantile(tookMs, 0.95),
  }
}

/** The smallest value that at least this share of the values does not exceed. */
function quantile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null
}
