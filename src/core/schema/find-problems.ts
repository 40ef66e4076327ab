import { nearestName } from '../text/nearest.ts'

/** What is wrong with one place of a value. */
export interface Fault {
  readonly code: 'unknown_field' | 'missing_field' | 'invalid_field'
  readonly field: string
  readonly message: string
  /** The name that was perhaps meant. */
  readonly meant?: string | undefined
}

/** As much of JSON Schema as our schemas are made of. */
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
 * Everything a schema finds wrong with a value, in the words of a refusal by the API. A validator stops at
 * the first, or lists every branch it tried; whoever mends a file wants all that is wrong, and no more.
 */
export function explain(schema: object, value: unknown, field = ''): Fault[] {
  return faultsOf(schema, value, field)
}

function faultsOf(schema: Schema, value: unknown, field: string): Fault[] {
  if (schema.anyOf) return faultsOfChoice(schema, schema.anyOf, value, field)
  if (!hasType(schema, value) || !isWithin(schema, value)) return [invalid(schema, field)]
  if (Array.isArray(value)) {
    const { items } = schema
    return items ? value.flatMap((item, nth) => faultsOf(items, item, join(field, nth))) : []
  }
  return typeof value === 'object' && value !== null ? faultsOfObject(schema, value, field) : []
}

/** Where a value may be one thing or another, the thing that it is like is what was meant. */
function faultsOfChoice(
  schema: Schema,
  choices: readonly Schema[],
  value: unknown,
  field: string,
): Fault[] {
  const alike = choices.filter((choice) => choice.anyOf !== undefined || hasType(choice, value))
  const tried = alike.map((choice) => faultsOf(choice, value, field))
  if (tried.some((faults) => faults.length === 0)) return []
  const [first = []] = tried.toSorted((a, b) => a.length - b.length)
  const isInside = first.length > 0 && first.every((fault) => fault.field !== field)
  return isInside ? first : [invalid(schema, field)]
}

function faultsOfObject(schema: Schema, value: object, field: string): Fault[] {
  const { properties = {}, required = [], additionalProperties: others, propertyNames } = schema
  const said = Object.entries(value).filter(([, inner]) => inner !== undefined)
  const faults = said.flatMap(([name, inner]): Fault[] => {
    const place = join(field, name)
    if (propertyNames && faultsOf(propertyNames, name, place).length > 0) {
      return [
        { code: 'invalid_field', field: place, message: `${name} is not a name that is allowed` },
      ]
    }
    const known = Object.hasOwn(properties, name) ? properties[name] : others
    if (known === false) return [unknown(name, place, Object.keys(properties))]
    return known ? faultsOf(known, inner, place) : []
  })
  const missing = required.filter((name) => !Object.hasOwn(value, name))
  return [
    ...faults,
    ...missing.map((name): Fault => {
      const place = join(field, name)
      return { code: 'missing_field', field: place, message: `${place} is missing` }
    }),
  ]
}

function unknown(name: string, field: string, known: readonly string[]): Fault {
  const meant = nearestName(name, known)
  const advice = meant === undefined ? '' : `; did you mean ${meant}?`
  return { code: 'unknown_field', field, message: `${name} is not a field here${advice}`, meant }
}

function invalid({ description = 'something else' }: Schema, field: string): Fault {
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

function between(value: number, least = -Infinity, most = Infinity): boolean {
  return value >= least && value <= most
}

function join(field: string, name: string | number): string {
  return field === '' ? String(name) : `${field}.${name}`
}
