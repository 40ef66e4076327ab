import type { SchedulesResult } from './schedules-scenario.ts'

const MOST_SHOWN = 20

/** A result for people, a few lines long however bad it is. */
export function schedulesSummary(result: SchedulesResult): string {
  const { fates, faults, starts, violations, tookMs } = result
  const { times, runs, onTheDot, lateP50Ms, lateP99Ms, lateMostMs } = fates
  const total = Object.values(times).reduce((sum, count) => sum + count, 0)
  const told = (counts: object) =>
    Object.entries(counts).map(([what, count]) => `${String(count)} ${what}`)
  return [
    `${total} times: ${told(times).join(', ')}; ${runs} runs, in ${(tookMs / 1_000).toFixed(0)} s`,
    `${onTheDot} runs as of their instant; workers started ${starts}`,
    `late by p50 ${lateP50Ms} ms, p99 ${lateP99Ms} ms, at most ${lateMostMs} ms`,
    `faults: ${told(faults).join(', ') || 'none'}`,
    `${violations.length} violations`,
    ...violations.slice(0, MOST_SHOWN).map((line) => `  ${line}`),
  ]
    .map((line) => `  ${line}`)
    .join('\n')
}
