import type { Json } from './expression.ts'
import type { ValueKind } from './value-kinds.ts'

interface ExpressionFunction {
  /** The usage line shown in the documentation. */
  readonly usage: string
  /** The types that each argument accepts. */
  readonly takes: readonly (readonly ValueKind[])[]
  readonly gives: ValueKind
  /** Throws an error message about its arguments; the caller adds the field. */
  call(given: readonly Json[]): Json
}

const ANYTHING = ['any'] as const

/** Pure functions only, and few of them: anything more belongs in the command of a step. */
export const FUNCTIONS: Readonly<Record<string, ExpressionFunction>> = {
  length: {
    usage: 'length(text or list)',
    takes: [['string', 'array', 'object']],
    gives: 'number',
    call: ([value]) => sizeOf(value as string | object),
  },
  default: {
    usage: 'default(value, what to take if it is null)',
    takes: [ANYTHING, ANYTHING],
    gives: 'any',
    call: ([value = null, otherwise = null]) => value ?? otherwise,
  },
  contains: {
    usage: 'contains(text or list, what)',
    takes: [['string', 'array', 'object'], ANYTHING],
    gives: 'boolean',
    call: ([value, sought = null]) => contains(value as string | object, sought),
  },
  join: {
    usage: "join(list, ', ')",
    takes: [['array'], ['string']],
    gives: 'string',
    call: ([list, between]) => (list as readonly Json[]).map(asText).join(between as string),
  },
  text: {
    usage: 'text(value)',
    takes: [ANYTHING],
    gives: 'string',
    call: ([value = null]) => asText(value),
  },
  number: {
    usage: 'number(text)',
    takes: [['string', 'number']],
    gives: 'number',
    call: ([value]) => asNumber(value as string | number),
  },
  json: {
    usage: 'json(value)',
    takes: [ANYTHING],
    gives: 'string',
    call: ([value = null]) => JSON.stringify(value),
  },
}

/** The text of a value: a string unchanged, an empty text for null, JSON for everything else. */
export function asText(value: Json): string {
  if (typeof value === 'string') return value
  return value === null ? '' : JSON.stringify(value)
}

function sizeOf(value: string | object): number {
  // Counts characters, not UTF-16 code units.
  if (typeof value === 'string') return [...value].length
  return Array.isArray(value) ? value.length : Object.keys(value).length
}

function contains(value: string | object, sought: Json): boolean {
  if (typeof value === 'string') return value.includes(asText(sought))
  if (Array.isArray(value)) return value.some((item: Json) => isDeepEqual(item, sought))
  return typeof sought === 'string' && Object.hasOwn(value, sought)
}

const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

function asNumber(value: string | number): number {
  if (typeof value === 'number') return value
  const number = NUMBER.test(value.trim()) ? Number(value) : Number.NaN
  if (Number.isFinite(number)) return number
  throw new TypeError(`"${value.slice(0, 40)}" is not a number`)
}

/** Deep equality. The values come from JSON, so their depth is limited. */
export function isDeepEqual(a: Json, b: Json): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const names = Object.keys(a)
  if (names.length !== Object.keys(b).length) return false
  const [left, right] = [a as Record<string, Json>, b as Record<string, Json>]
  return names.every(
    (name) => Object.hasOwn(right, name) && isDeepEqual(left[name] ?? null, right[name] ?? null),
  )
}
