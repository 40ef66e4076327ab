import { PunctualError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import { formatSize, parseSize, writeSize } from '../text/size.ts'

/** Resource limits of one attempt, as stored and sent to a worker. */
export interface WorkLimits {
  readonly memory_bytes?: number
  /** CPU cores; may be a fraction. */
  readonly cpu?: number
  /** Maximum number of processes and threads. */
  readonly pids?: number
  /** Maximum number of open files per process. */
  readonly files?: number
  /** Maximum output: this much is kept of the beginning, and some of the end. */
  readonly output_bytes?: number
  /** Maximum size of its temporary directory. */
  readonly tmp_bytes?: number
}

/** Limits as users write them: sizes are text such as `512MiB`. */
export interface LimitsInput {
  readonly memory?: string | undefined
  readonly cpu?: number | undefined
  readonly pids?: number | undefined
  readonly files?: number | undefined
  readonly output?: string | undefined
  readonly tmp?: string | undefined
}

export type LimitName = keyof LimitsInput

interface Kind {
  readonly key: keyof WorkLimits
  readonly isSize: boolean
  readonly least: number
  readonly most: number
  readonly isWhole: boolean
}

/** Below the minimum nothing can start; above the maximum the value is surely a mistake. */
const KINDS: Readonly<Record<LimitName, Kind>> = {
  memory: size('memory_bytes', LIMITS.minMemoryBytes, LIMITS.maxAttemptBytes),
  cpu: { ...count('cpu', LIMITS.minCpu, LIMITS.maxCpu), isWhole: false },
  pids: count('pids', 1, LIMITS.maxPids),
  files: count('files', LIMITS.minFiles, LIMITS.maxFiles),
  output: size('output_bytes', LIMITS.minOutputBytes, LIMITS.maxOutputBytes),
  tmp: size('tmp_bytes', LIMITS.minTmpBytes, LIMITS.maxAttemptBytes),
}

export const LIMIT_NAMES = Object.keys(KINDS) as readonly LimitName[]

export function isLimitName(name: string): name is LimitName {
  return Object.hasOwn(KINDS, name)
}

export function limitOf(limits: WorkLimits | undefined, name: LimitName): number | undefined {
  return limits?.[KINDS[name].key]
}

/** Only the limits that have a number. */
export function limitsFrom(numbers: Partial<Record<LimitName, number | undefined>>): WorkLimits {
  const limited = LIMIT_NAMES.filter((name) => numbers[name] !== undefined)
  return Object.fromEntries(limited.map((name) => [KINDS[name].key, numbers[name]]))
}

/** Reads limits from a job; `undefined` if none is set. */
export function readLimits(input: LimitsInput, at = 'limits'): WorkLimits | undefined {
  const numbers: Partial<Record<LimitName, number>> = {}
  for (const name of LIMIT_NAMES) {
    const value = input[name]
    if (value !== undefined) numbers[name] = readLimit(name, value, `${at}.${name}`)
  }
  return Object.keys(numbers).length === 0 ? undefined : limitsFrom(numbers)
}

/** Reads one limit from a job or from the command line. */
export function readLimit(name: LimitName, value: string | number, field: string): number {
  const { isSize, isWhole, least, most } = KINDS[name]
  const number = isSize ? parseSize(String(value), field) : toNumber(value)
  const fits = number >= least && number <= most && (!isWhole || Number.isInteger(number))
  if (fits) return number
  const what = isWhole && !isSize ? 'a whole number from' : 'from'
  const message = `${field} must be ${what} ${showLimit(name, least)} to ${showLimit(name, most)}`
  throw new PunctualError('invalid_field', message, { field })
}

export function writeLimits(limits: WorkLimits | undefined): LimitsInput | undefined {
  if (limits === undefined) return undefined
  const entries = LIMIT_NAMES.flatMap((name) => {
    const value = limitOf(limits, name)
    return value === undefined ? [] : [[name, KINDS[name].isSize ? writeSize(value) : value]]
  })
  return Object.fromEntries(entries) as LimitsInput
}

/** For display: `512 MiB`, `1.5`, `200`. */
export function showLimit(name: LimitName, value: number): string {
  return KINDS[name].isSize ? formatSize(value) : String(value)
}

const NUMBER = /^\d{1,10}(?:\.\d{1,6})?$/

function toNumber(value: string | number): number {
  if (typeof value === 'number') return value
  return NUMBER.test(value) ? Number(value) : Number.NaN
}

function size(key: keyof WorkLimits, least: number, most: number): Kind {
  return { key, least, most, isSize: true, isWhole: true }
}

function count(key: keyof WorkLimits, least: number, most: number): Kind {
  return { key, least, most, isSize: false, isWhole: true }
}
