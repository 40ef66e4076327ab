import type { RoundResult } from './rounds.ts'
import type { Figure, BenchScenario, FigureTarget } from './scenario.ts'
import { median, spread, type Spread } from './statistics.ts'

/** A figure with the verdict on its targets; `spread` is `null` if no round measured it. */
export interface JudgedFigure {
  readonly figure: Figure
  readonly spread: Spread | null
  readonly targets: readonly JudgedTarget[]
}

export interface JudgedTarget {
  readonly target: FigureTarget
  /** The best baseline, for targets that are ratios. */
  readonly baseline: string | null
  /** The ratio to the baseline, or the figure itself. */
  readonly value: number | null
  readonly met: boolean | null
}

export function judgeFigures(
  scenario: BenchScenario,
  results: readonly RoundResult[],
): JudgedFigure[] {
  return scenario.figures.map((figure) => {
    const own = spreadOf(results, figure.variant, figure.measurement)
    const targets = (figure.targets ?? []).map((target) =>
      judgeTarget(target, figure, own, results),
    )
    return { figure, spread: own, targets }
  })
}

function judgeTarget(
  target: FigureTarget,
  figure: Figure,
  own: Spread | null,
  results: readonly RoundResult[],
): JudgedTarget {
  const isLessBetter = target.atMost !== undefined
  const figureValue = own && (target.worst ? (isLessBetter ? own.max : own.min) : own.median)
  if (!target.baselines) return withVerdict(target, null, figureValue)
  const measurement = target.measurement ?? figure.measurement
  const best = bestBaseline(target.baselines, measurement, isLessBetter, results)
  if (figureValue === null || !best) return withVerdict(target, best?.name ?? null, null)
  const ratio = target.worst
    ? figureValue / best.median
    : ratioByRounds(results, figure, { variant: best.name, measurement })
  return withVerdict(target, best.name, ratio)
}

/**
 * The median of the ratios within each round: the speed of a shared machine changes by a third within
 * minutes, and equally for all variants of a round.
 */
function ratioByRounds(
  results: readonly RoundResult[],
  figure: Pick<Figure, 'variant' | 'measurement'>,
  baseline: Pick<Figure, 'variant' | 'measurement'>,
): number | null {
  const valueIn = (round: number, { variant, measurement }: typeof baseline) =>
    results.find((result) => result.round === round && result.variant === variant)?.measurements?.[
      measurement
    ]
  const rounds = new Set(results.map(({ round }) => round))
  const ratios = [...rounds].flatMap((round) => {
    const [own, theirs] = [valueIn(round, figure), valueIn(round, baseline)]
    return own != null && theirs != null ? [own / theirs] : []
  })
  return ratios.length > 0 ? median(ratios) : null
}

function withVerdict(
  target: FigureTarget,
  baseline: string | null,
  value: number | null,
): JudgedTarget {
  const { atLeast = -Infinity, atMost = Infinity } = target
  const met = value === null ? null : value >= atLeast && value <= atMost
  return { target, baseline, value, met }
}

function bestBaseline(
  baselines: readonly string[],
  measurement: string,
  isLessBetter: boolean,
  results: readonly RoundResult[],
): { name: string; median: number } | undefined {
  const known = baselines.flatMap((name) => {
    const theirs = spreadOf(results, name, measurement)
    return theirs ? [{ name, median: theirs.median }] : []
  })
  const sorted = known.toSorted((a, b) =>
    isLessBetter ? a.median - b.median : b.median - a.median,
  )
  return sorted[0]
}

export function spreadOf(
  results: readonly RoundResult[],
  variant: string,
  measurement: string,
): Spread | null {
  const values = results
    .filter((result) => result.variant === variant)
    .map((result) => result.measurements?.[measurement])
    .filter((value) => value !== undefined && value !== null)
  return values.length > 0 ? spread(values) : null
}
