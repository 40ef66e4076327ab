import type { Schema } from './openapi-document.ts'

const TYPES = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null']
const KEYWORDS = new Set([
  '$ref',
  'type',
  'enum',
  'const',
  'anyOf',
  'oneOf',
  'description',
  'examples',
  'format',
  'properties',
  'required',
  'additionalProperties',
  'propertyNames',
  'maxProperties',
  'prefixItems',
  'contentMediaType',
  'contentSchema',
  'items',
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'pattern',
])
const PAIRS = [
  ['minimum', 'maximum'],
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
] as const

/** Mistakes that make a schema accept too much: validators ignore unknown keywords and bounds of another type. */
export function schemaViolations(schema: Schema, at: string): string[] {
  const { type, properties = {}, required = [], pattern, items, propertyNames } = schema
  const faults: string[] = []
  for (const word of Object.keys(schema)) if (!KEYWORDS.has(word)) faults.push(`${at} says ${word}`)
  for (const one of [type ?? []].flat()) {
    if (!TYPES.includes(one)) faults.push(`${at} has the type ${one}`)
  }
  for (const [least, most] of PAIRS) {
    const isEmpty = (schema[least] ?? 0) > (schema[most] ?? Number.MAX_SAFE_INTEGER)
    if (isEmpty) faults.push(`${at} has a ${least} above its ${most}`)
  }
  for (const name of required) {
    if (!(name in properties)) faults.push(`${at} requires ${name}, which it does not describe`)
  }
  if (schema.enum?.length === 0) faults.push(`${at} may be nothing at all`)
  if (pattern !== undefined && !isPattern(pattern)) faults.push(`${at} has a broken pattern`)
  if ('properties' in schema && ![type].flat().includes('object')) {
    faults.push(`${at} has properties and is no object`)
  }
  const { additionalProperties: rest } = schema
  const inner: [string, Schema | undefined][] = [
    ...Object.entries(properties).map(([name, one]): [string, Schema] => [`${at}.${name}`, one]),
    ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].map((one): [string, Schema] => [at, one]),
    [`${at}[]`, items],
    [`the text of ${at}`, schema.contentSchema],
    ...(schema.prefixItems ?? []).map((one): [string, Schema] => [`${at}[]`, one]),
    [`${at}.*`, typeof rest === 'object' ? rest : undefined],
    [`names of ${at}`, propertyNames],
  ]
  return [...faults, ...inner.flatMap(([where, one]) => (one ? schemaViolations(one, where) : []))]
}

function isPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u') instanceof RegExp
  } catch {
    return false
  }
}
