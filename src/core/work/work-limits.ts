import { PunctualError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import { formatSize, parseSize, writeSize } from '../text/size.ts'

/** How much of its machine one attempt may take, as it is stored and as it travels to a worker. */
export interface WorkLimits {
  readonly memory_bytes?: number
  /** Cores, also parts of one. */
  readonly cpu?: number
  /** Processes and threads at once. */
  readonly pids?: number
  /** Files one process may have open. */
  readonly files?: number
  /** Of what it prints, this much of the beginning is kept, and some of the end. */
  readonly output_bytes?: number
  /** What its temporary directory may hold. */
  readonly tmp_bytes?: number
}

/** As people write them: sizes are text such as `512MiB`. */
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

/** What is below the least cannot start anything; what is above the most is surely a slip. */
const KINDS: Readonly<Record<LimitName, Kind>> = {
  memory: size('memory_bytes', LIMITS.leastMemoryBytes, LIMITS.mostBytes),
  cpu: { ...count('cpu', LIMITS.leastCpu, LIMITS.mostCpu), isWhole: false },
  pids: count('pids', 1, LIMITS.mostPids),
  files: count('files', LIMITS.leastFiles, LIMITS.mostFiles),
  output: size('output_bytes', LIMITS.leastOutputBytes, LIMITS.mostOutputBytes),
  tmp: size('tmp_bytes', LIMITS.leastTmpBytes, LIMITS.mostBytes),
}

export const LIMIT_NAMES = Object.keys(KINDS) as readonly LimitName[]

export function isLimitName(name: string): name is LimitName {
  return Object.hasOwn(KINDS, name)
}

export function limitOf(limits: WorkLimits | undefined, name: LimitName): number | undefined {
  return limits?.[KINDS[name].key]
}

/** The limits that have a number. */
export function limitsFrom(numbers: Partial<Record<LimitName, number | undefined>>): WorkLimits {
  const said = LIMIT_NAMES.filter((name) => numbers[name] !== undefined)
  return Object.fromEntries(said.map((name) => [KINDS[name].key, numbers[name]]))
}

/** Reads what people wrote; `undefined` when it limits nothing. */
export function readLimits(input: LimitsInput, at = 'limits'): WorkLimits | undefined {
  const numbers: Partial<Record<LimitName, number>> = {}
  for (const name of LIMIT_NAMES) {
    const value = input[name]
    if (value !== undefined) numbers[name] = readLimit(name, value, `${at}.${name}`)
  }
  return Object.keys(numbers).length === 0 ? undefined : limitsFrom(numbers)
}

/** One of them, written as in a job or as a word on a command line. */
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

/** For people: `512 MiB`, `1.5`, `200`. */
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
