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

/** What an operator says of one limit: for commands that name none, and at most. */
export interface LimitBound {
  readonly usual: number
  readonly most: number
}

export type LimitBounds = Readonly<Partial<Record<LimitName, LimitBound>>>

/** Reads `1GiB`, which is both, or `512MiB..4GiB`. */
export function readBound(name: LimitName, text: string, field: string): LimitBound {
  const [low = '', high, ...more] = text.split('..')
  const usual = readLimit(name, low, field)
  const most = high === undefined ? usual : readLimit(name, high, field)
  if (more.length === 0 && usual <= most) return { usual, most }
  const message = `${field} must be one limit, or the usual and the highest, such as 512MiB..4GiB`
  throw new PunctualError('invalid_field', message, { field })
}

/** What a command gets, and a sentence for each limit that is lower than it asked for. */
export function applyBounds(
  asked: WorkLimits | undefined,
  bounds: LimitBounds,
): { limits: WorkLimits; remarks: string[] } {
  const numbers: Partial<Record<LimitName, number | undefined>> = {}
  const remarks: string[] = []
  for (const name of LIMIT_NAMES) {
    const wish = limitOf(asked, name)
    const bound = bounds[name]
    numbers[name] = wish === undefined ? bound?.usual : Math.min(wish, bound?.most ?? wish)
    if (wish === undefined || wish === numbers[name]) continue
    const [given, wanted] = [showLimit(name, numbers[name] as number), showLimit(name, wish)]
    remarks.push(`limits.${name} is ${given}, the most this worker gives, and not ${wanted}`)
  }
  return { limits: limitsFrom(numbers), remarks }
}
