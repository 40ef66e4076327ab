import type { SchedulesResult } from './schedules-scenario.ts'

const MAX_SHOWN = 20

/** A result for the terminal, a few lines long in any case. */
export function schedulesSummary(result: SchedulesResult): string {
  const { stats, faults, starts, violations, tookMs } = result
  const { times, runs, onTheDot, lateP50Ms, lateP99Ms, maxLateMs } = stats
  const total = Object.values(times).reduce((sum, count) => sum + count, 0)
  const describeCounts = (counts: object) =>
    Object.entries(counts).map(([what, count]) => `${String(count)} ${what}`)
  return [
    `${total} times: ${describeCounts(times).join(', ')}; ${runs} runs, in ${(tookMs / 1_000).toFixed(0)} s`,
    `${onTheDot} runs as of their instant; workers started ${starts}`,
    `late by p50 ${lateP50Ms} ms, p99 ${lateP99Ms} ms, at most ${maxLateMs} ms`,
    `faults: ${describeCounts(faults).join(', ') || 'none'}`,
    `${violations.length} violations`,
    ...violations.slice(0, MAX_SHOWN).map((line) => `  ${line}`),
  ]
    .map((line) => `  ${line}`)
    .join('\n')
}
