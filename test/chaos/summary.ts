import type { Result } from './scenario.ts'
import { describeViolation } from './violation.ts'

const MOST_SHOWN = 20

/** A result for people, a few lines long however bad it is. */
export function summaryOf({ figures, violations, tookMs }: Result): string {
  const { submitted, acknowledged, refused, unknown, attempts, lost, stale, zombies } = figures
  const faults = Object.entries(figures.faults).map(([kind, count]) => `${count} ${kind}`)
  const shown = violations.slice(0, MOST_SHOWN).map(describeViolation)
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
