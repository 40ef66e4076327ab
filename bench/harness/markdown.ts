import type { RoundResult } from './rounds.ts'
import type { BenchScenario, Unit } from './scenario.ts'
import { spreadOf, type JudgedFigure, type JudgedTarget } from './verdict.ts'

const DIGITS: Record<Unit, number> = {
  'runs/s': 0,
  'rows/s': 0,
  'lines/s': 0,
  µs: 0,
  ms: 2,
  s: 2,
  MB: 1,
  '%': 2,
  '×': 2,
}

/** The summary table; the JSON file has the raw rounds. */
export function markdownTable(figures: readonly JudgedFigure[]): string {
  const rows = figures.map(({ figure, spread, targets }) => [
    figure.label,
    spread ? `${format(spread.median, figure.unit)} ${figure.unit}` : 'not measured',
    spread ? `${format(spread.min, figure.unit)} – ${format(spread.max, figure.unit)}` : '',
    spread ? String(spread.count) : '0',
    targets.map(ratioText).join('<br>'),
    targets.map(targetText).join('<br>'),
  ])
  const head = ['', 'median', 'min – max', 'rounds', 'against', 'target']
  return table(head, ['---', '--:', ':-:', '--:', ':--', ':--'], rows)
}

/** Empty when the scenario has no details. */
export function detailTable(scenario: BenchScenario, results: readonly RoundResult[]): string {
  const details = scenario.details ?? []
  if (details.length === 0) return ''
  const rows = scenario.variants.map(({ name }) => [
    name,
    ...details.map(({ measurement }) => {
      const spread = spreadOf(results, name, measurement)
      return spread ? spread.median.toFixed(1) : ''
    }),
  ])
  const head = ['', ...details.map(({ label }) => label)]
  return table(head, ['---', ...details.map(() => '--:')], rows)
}

function table(...[head, rule, rows]: [string[], string[], string[][]]): string {
  return [head, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function ratioText({ target, baseline, value }: JudgedTarget): string {
  if (!target.baselines) return ''
  return value === null ? 'not measured' : `${value.toFixed(2)}× ${baseline}`
}

function targetText({ target, met }: JudgedTarget): string {
  const { atLeast, atMost, baselines, worst } = target
  if (atLeast === undefined && atMost === undefined) return ''
  const sign = atLeast === undefined ? '≤' : '≥'
  const bound = `${sign} ${atLeast ?? atMost}${baselines ? '×' : ''}${worst ? ' in every round' : ''}`
  return `${bound} ${met === null ? '?' : met ? '✓' : '✗'}`
}

function format(value: number, unit: Unit): string {
  const digits = DIGITS[unit]
  return value.toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
}
