import { nearestName } from '../text/nearest.ts'

/** One problem in a value. */
export interface SchemaProblem {
  readonly code: 'unknown_field' | 'missing_field' | 'invalid_field'
  readonly field: string
  readonly message: string
  /** The suggested name. */
  readonly suggestion?: string | undefined
}

/** The part of JSON Schema that our schemas use. */
interface Schema {
  readonly type?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: false | Schema
  readonly propertyNames?: Schema
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly maxProperties?: number
}

/**
 * Lists every problem that a schema finds in a value, in the words of the API's errors. A validator stops at the
 * first problem or lists every branch it tried; the author of a file needs each problem once.
 */
export function findSchemaProblems(schema: object, value: unknown, field = ''): SchemaProblem[] {
  return problemsOf(schema, value, field)
}

function problemsOf(schema: Schema, value: unknown, field: string): SchemaProblem[] {
  if (schema.anyOf) return problemsOfChoice(schema, schema.anyOf, value, field)
  if (!hasType(schema, value) || !isWithin(schema, value)) return [invalid(schema, field)]
  if (Array.isArray(value)) {
    const { items } = schema
    return items ? value.flatMap((item, nth) => problemsOf(items, item, join(field, nth))) : []
  }
  return typeof value === 'object' && value !== null ? problemsOfObject(schema, value, field) : []
}

/** For a choice, the alternative most similar to the value is assumed to be meant. */
function problemsOfChoice(
  schema: Schema,
  choices: readonly Schema[],
  value: unknown,
  field: string,
): SchemaProblem[] {
  const alike = choices.filter((choice) => choice.anyOf !== undefined || hasType(choice, value))
  const tried = alike.map((choice) => problemsOf(choice, value, field))
  if (tried.some((problems) => problems.length === 0)) return []
  const [first = []] = tried.toSorted((a, b) => a.length - b.length)
  const isInside = first.length > 0 && first.every((fault) => fault.field !== field)
  return isInside ? first : [invalid(schema, field)]
}

/** With more unknown names than this in one object, they are not typing errors and get no suggestions. */
const MAX_SUGGESTIONS = 100

function problemsOfObject(schema: Schema, value: object, field: string): SchemaProblem[] {
  const { properties = {}, required = [], additionalProperties: others, propertyNames } = schema
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  let unknownNames = 0
  const problems = entries.flatMap(([name, inner]): SchemaProblem[] => {
    const place = join(field, name)
    if (propertyNames && problemsOf(propertyNames, name, place).length > 0) {
      return [
        { code: 'invalid_field', field: place, message: `${name} is not a name that is allowed` },
      ]
    }
    const known = Object.hasOwn(properties, name) ? properties[name] : others
    if (known === false) {
      unknownNames += 1
      return [unknown(name, place, unknownNames > MAX_SUGGESTIONS ? [] : Object.keys(properties))]
    }
    return known ? problemsOf(known, inner, place) : []
  })
  const missing = required.filter((name) => !Object.hasOwn(value, name))
  return [
    ...problems,
    ...missing.map((name): SchemaProblem => {
      const place = join(field, name)
      return { code: 'missing_field', field: place, message: `${place} is missing` }
    }),
  ]
}

function unknown(name: string, field: string, known: readonly string[]): SchemaProblem {
  const suggestion = nearestName(name, known)
  const advice = suggestion === undefined ? '' : `; did you mean ${suggestion}?`
  return {
    code: 'unknown_field',
    field,
    message: `${name} is not a field here${advice}`,
    suggestion,
  }
}

function invalid({ description = 'something else' }: Schema, field: string): SchemaProblem {
  return {
    code: 'invalid_field',
    field,
    message: `${field || 'the job'} must be ${description}`,
  }
}

function hasType({ type }: Schema, value: unknown): boolean {
  switch (type) {
    case undefined:
      return true
    case 'array':
      return Array.isArray(value)
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    case 'integer':
      return Number.isInteger(value)
    case 'number':
      return typeof value === 'number' && Number.isFinite(value)
    default:
      return typeof value === type
  }
}

function isWithin(schema: Schema, value: unknown): boolean {
  if (schema.enum && !schema.enum.includes(value)) return false
  if (typeof value === 'number') return between(value, schema.minimum, schema.maximum)
  if (typeof value === 'string') {
    if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(value)) return false
    return between([...value].length, schema.minLength, schema.maxLength)
  }
  if (Array.isArray(value)) return between(value.length, schema.minItems, schema.maxItems)
  if (typeof value !== 'object' || value === null) return true
  return between(Object.keys(value).length, undefined, schema.maxProperties)
}

function between(value: number, minimum = -Infinity, maximum = Infinity): boolean {
  return value >= minimum && value <= maximum
}

function join(field: string, name: string | number): string {
  return field === '' ? String(name) : `${field}.${name}`
}
