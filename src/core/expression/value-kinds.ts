import type { Json } from './expression.ts'

/** The type of a value; `any` if it is only known at evaluation. */
export type ValueKind = 'any' | 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object'

export function valueKindOf(value: Json): Exclude<ValueKind, 'any'> {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value as 'boolean' | 'number' | 'string' | 'object'
}

/** Whether the value can have one of these types, as far as is known. */
export function mayBe(kind: ValueKind, wanted: readonly ValueKind[]): boolean {
  return kind === 'any' || wanted.includes('any') || wanted.includes(kind)
}

const WORDS: Readonly<Record<ValueKind, string>> = {
  any: 'anything',
  null: 'null',
  boolean: 'true or false',
  number: 'a number',
  string: 'text',
  array: 'a list',
  object: 'an object',
}

export function describeKinds(...kinds: readonly ValueKind[]): string {
  return kinds.map((kind) => WORDS[kind]).join(' or ')
}
