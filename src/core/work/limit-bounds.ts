import { PunctualError } from '../errors.ts'
import {
  LIMIT_NAMES,
  type LimitName,
  limitOf,
  limitsFrom,
  readLimit,
  showLimit,
  type WorkLimits,
} from './work-limits.ts'

/** The operator's settings for one limit: the default for commands that request none, and the maximum. */
export interface LimitBound {
  readonly default: number
  readonly max: number
}

export type LimitBounds = Readonly<Partial<Record<LimitName, LimitBound>>>

/** Reads `1GiB`, which sets both, or `512MiB..4GiB`. */
export function readBound(name: LimitName, text: string, field: string): LimitBound {
  const [low = '', high, ...more] = text.split('..')
  const defaultValue = readLimit(name, low, field)
  const max = high === undefined ? defaultValue : readLimit(name, high, field)
  if (more.length === 0 && defaultValue <= max) return { default: defaultValue, max: max }
  const message = `${field} must be one limit, or a default and a maximum, such as 512MiB..4GiB`
  throw new PunctualError('invalid_field', message, { field })
}

/** The limits that a command gets, and a sentence for each limit that is lower than requested. */
export function applyBounds(
  asked: WorkLimits | undefined,
  bounds: LimitBounds,
): { limits: WorkLimits; messages: string[] } {
  const numbers: Partial<Record<LimitName, number | undefined>> = {}
  const messages: string[] = []
  for (const name of LIMIT_NAMES) {
    const requested = limitOf(asked, name)
    const bound = bounds[name]
    numbers[name] =
      requested === undefined ? bound?.default : Math.min(requested, bound?.max ?? requested)
    if (requested === undefined || requested === numbers[name]) continue
    const [given, wanted] = [showLimit(name, numbers[name] as number), showLimit(name, requested)]
    messages.push(`limits.${name} is ${given}, the maximum of this worker, instead of ${wanted}`)
  }
  return { limits: limitsFrom(numbers), messages }
}
