import type { ScenarioResult } from './scenario.ts'
import { describeViolation } from './violation.ts'

const MAX_SHOWN = 20

/** A result for the terminal, a few lines long in any case. */
export function scenarioSummary({ figures, violations, tookMs }: ScenarioResult): string {
  const { submitted, acknowledged, refused, unknown, attempts, lost, stale, zombies } = figures
  const faults = Object.entries(figures.faults).map(([kind, count]) => `${count} ${kind}`)
  const shown = violations.slice(0, MAX_SHOWN).map(describeViolation)
  return [
    `${submitted} submitted: ${acknowledged} acknowledged, ${refused} refused, ${unknown} unknown`,
    `${attempts} attempts: ${lost} lost, ${stale} stale reports, ${zombies} zombies`,
    `faults: ${faults.join(', ') || 'none'}`,
    `recovery: p50 ${seconds(figures.recoveryP50Ms)}, max ${seconds(figures.recoveryMaxMs)}`,
    `${violations.length} violations in ${seconds(tookMs)}`,
    ...shown.map((line) => `  ${line}`),
  ]
    .map((line) => `  ${line}`)
    .join('\n')
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`
}
