import type { Json } from './expression.ts'

/** What a value is; `any` where that is known only when it is there. */
export type Kind = 'any' | 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object'

export function kindOf(value: Json): Exclude<Kind, 'any'> {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value as 'boolean' | 'number' | 'string' | 'object'
}

/** Whether it can be one of these, as far as is known. */
export function mayBe(kind: Kind, wanted: readonly Kind[]): boolean {
  return kind === 'any' || wanted.includes('any') || wanted.includes(kind)
}

const WORDS: Readonly<Record<Kind, string>> = {
  any: 'anything',
  null: 'null',
  boolean: 'true or false',
  number: 'a number',
  string: 'text',
  array: 'a list',
  object: 'an object',
}

export function inWords(...kinds: readonly Kind[]): string {
  return kinds.map((kind) => WORDS[kind]).join(' or ')
}
