import type { RoundResult } from './rounds.ts'
import type { Figure, Scenario, Target } from './scenario.ts'
import { median, spread, type Spread } from './statistics.ts'

/** A figure with its targets judged; `null` where a round of somebody is missing altogether. */
export interface JudgedFigure {
  readonly figure: Figure
  readonly spread: Spread | null
  readonly targets: readonly JudgedTarget[]
}

export interface JudgedTarget {
  readonly target: Target
  /** The rival that did best, for targets that are ratios. */
  readonly rival: string | null
  /** The ratio, or the figure itself. */
  readonly value: number | null
  readonly met: boolean | null
}

export function judge(scenario: Scenario, results: readonly RoundResult[]): JudgedFigure[] {
  return scenario.figures.map((figure) => {
    const own = spreadOf(results, figure.variant, figure.measurement)
    const targets = (figure.targets ?? []).map((target) =>
      judgeTarget(target, figure, own, results),
    )
    return { figure, spread: own, targets }
  })
}

function judgeTarget(
  target: Target,
  figure: Figure,
  own: Spread | null,
  results: readonly RoundResult[],
): JudgedTarget {
  const isLessBetter = target.atMost !== undefined
  const figureValue = own && (target.worst ? (isLessBetter ? own.max : own.min) : own.median)
  if (!target.rivals) return judged(target, null, figureValue)
  const measurement = target.measurement ?? figure.measurement
  const best = bestRival(target.rivals, measurement, isLessBetter, results)
  if (figureValue === null || !best) return judged(target, best?.name ?? null, null)
  const ratio = target.worst
    ? figureValue / best.median
    : ratioByRounds(results, figure, { variant: best.name, measurement })
  return judged(target, best.name, ratio)
}

/**
 * The machine's speed moves by a third within minutes, for both alike: what they did in the same
 * round is compared, and the median taken of that.
 */
function ratioByRounds(
  results: readonly RoundResult[],
  figure: Pick<Figure, 'variant' | 'measurement'>,
  rival: Pick<Figure, 'variant' | 'measurement'>,
): number | null {
  const valueIn = (round: number, { variant, measurement }: typeof rival) =>
    results.find((result) => result.round === round && result.variant === variant)?.measurements?.[
      measurement
    ]
  const rounds = new Set(results.map(({ round }) => round))
  const ratios = [...rounds].flatMap((round) => {
    const [own, theirs] = [valueIn(round, figure), valueIn(round, rival)]
    return own != null && theirs != null ? [own / theirs] : []
  })
  return ratios.length > 0 ? median(ratios) : null
}

function judged(target: Target, rival: string | null, value: number | null): JudgedTarget {
  const { atLeast = -Infinity, atMost = Infinity } = target
  const met = value === null ? null : value >= atLeast && value <= atMost
  return { target, rival, value, met }
}

function bestRival(
  rivals: readonly string[],
  measurement: string,
  isLessBetter: boolean,
  results: readonly RoundResult[],
): { name: string; median: number } | undefined {
  const known = rivals.flatMap((name) => {
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
