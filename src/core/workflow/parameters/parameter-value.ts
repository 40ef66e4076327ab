import { isDeepEqual } from '../../expression/functions.ts'
import type { Json } from '../../expression/expression.ts'
import type { ParameterInput, ParameterType } from '../definition.ts'

const DATE = /^\d{4}-\d\d-\d\d$/
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/** Why a value is invalid for a parameter, as a phrase that follows its name; `undefined` if it is valid. */
export function refuseValue(
  { type, format, enum: among }: Omit<ParameterInput, 'default'>,
  value: unknown,
): string | undefined {
  if (!IS[type](value)) return `must be ${WORDS[type]}`
  if (format === 'date' && !isDate(value as string)) return 'must be a date such as 2026-01-31'
  if (format === 'date-time' && !isTime(value as string)) {
    return 'must be a time with its zone, such as 2026-01-31T09:00:00Z'
  }
  if (!among || among.some((one) => isDeepEqual(one as Json, value as Json))) return undefined
  return `must be one of ${among.map((one) => JSON.stringify(one)).join(', ')}`
}

const IS: Readonly<Record<ParameterType, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  integer: (value) => Number.isSafeInteger(value),
  boolean: (value) => typeof value === 'boolean',
  array: (value) => Array.isArray(value),
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
}

const WORDS: Readonly<Record<ParameterType, string>> = {
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}

function isDate(text: string): boolean {
  return DATE.test(text) && isReal(text)
}

function isTime(text: string): boolean {
  return DATE_TIME.test(text) && isReal(text.slice(0, 10)) && !Number.isNaN(Date.parse(text))
}

/** 30 February is not a date, but `Date` would turn it into March. */
function isReal(date: string): boolean {
  const ms = Date.parse(`${date}T00:00:00Z`)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date)
}
