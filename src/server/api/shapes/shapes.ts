/** Builders for response schemas: plain JSON Schema, built when the reference is requested. */

export type Shape = Readonly<Record<string, unknown>>

export const textShape = (description: string, more: Shape = {}): Shape => ({
  type: 'string',
  ...more,
  description,
})

export const integerShape = (description: string, more: Shape = {}): Shape => ({
  type: 'integer',
  minimum: 0,
  ...more,
  description,
})

export const booleanShape = (description: string): Shape => ({ type: 'boolean', description })

export const timeShape = (description: string): Shape =>
  textShape(description, { format: 'date-time' })

export const enumShape = (words: readonly string[], description: string): Shape =>
  textShape(description, { enum: words })

export const anyShape = (description: string): Shape => ({ description })

export const listShape = (items: Shape, description: string): Shape => ({
  type: 'array',
  items,
  description,
})

export const textListShape = (description: string): Shape => ({
  type: 'object',
  additionalProperties: { type: 'string' },
  description,
})

export const runIdShape = (description: string): Shape =>
  textShape(description, { pattern: '^run_[0-9a-z]{11}$', examples: ['run_00f3k9m2q7x'] })

export const sessionIdShape = (description: string): Shape =>
  textShape(description, { pattern: '^ses_[0-9a-z]{11}$', examples: ['ses_00f3k9m2q7x'] })

export const workerIdShape = (description: string): Shape =>
  textShape(description, { pattern: '^wrk_[0-9a-z]{11}$', examples: ['wrk_0qk3v8d1n5c'] })

export const refShape = (name: string): Shape => ({ $ref: `#/components/schemas/${name}` })

export function nullableShape(shape: Shape): Shape {
  const { type, enum: words, ...rest } = shape
  if (typeof type !== 'string') return { anyOf: [shape, { type: 'null' }] }
  const choice = Array.isArray(words) ? { enum: [...(words as unknown[]), null] } : {}
  return { type: [type, 'null'], ...choice, ...rest }
}

type OptionalKey<T> = {
  [Key in keyof T]-?: object extends Pick<T, Key> ? Key : never
}[keyof T]

/**
 * An object that is sent as `Wire`: the compiler checks that no field of that type is missing.
 * Fields may be added later, so additional properties are allowed.
 */
export function objectShape<Wire extends object>(
  description: string,
  properties: Readonly<Record<keyof Wire, Shape>>,
  optional: readonly OptionalKey<Wire>[] = [],
): Shape {
  const left = new Set<string>(optional as readonly string[])
  const required = Object.keys(properties).filter((name) => !left.has(name))
  return { type: 'object', required, properties, description }
}

export function pageShape(name: string): Shape {
  return objectShape<{ data: unknown; next_cursor: unknown }>(`A page of a list.`, {
    data: listShape(refShape(name), 'What is on this page.'),
    next_cursor: nullableShape(
      textShape('Ask for the next page with this `cursor`; null on the last page.'),
    ),
  })
}

/** A list that is short enough to be returned completely. */
export function refListShape(name: string): Shape {
  return objectShape<{ data: unknown }>('A whole list.', {
    data: listShape(refShape(name), 'All of them.'),
  })
}
