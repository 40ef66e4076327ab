/** Words to describe answers with: plain JSON Schema, made when the reference is asked for. */

export type Shape = Readonly<Record<string, unknown>>

export const text = (description: string, more: Shape = {}): Shape => ({
  type: 'string',
  ...more,
  description,
})

export const whole = (description: string, more: Shape = {}): Shape => ({
  type: 'integer',
  minimum: 0,
  ...more,
  description,
})

export const flag = (description: string): Shape => ({ type: 'boolean', description })

export const time = (description: string): Shape => text(description, { format: 'date-time' })

export const word = (words: readonly string[], description: string): Shape =>
  text(description, { enum: words })

export const anything = (description: string): Shape => ({ description })

export const list = (items: Shape, description: string): Shape => ({
  type: 'array',
  items,
  description,
})

export const texts = (description: string): Shape => ({
  type: 'object',
  additionalProperties: { type: 'string' },
  description,
})

export const runId = (description: string): Shape =>
  text(description, { pattern: '^run_[0-9a-z]{11}$', examples: ['run_00f3k9m2q7x'] })

export const sessionId = (description: string): Shape =>
  text(description, { pattern: '^ses_[0-9a-z]{11}$', examples: ['ses_00f3k9m2q7x'] })

export const ref = (name: string): Shape => ({ $ref: `#/components/schemas/${name}` })

export function orNull(shape: Shape): Shape {
  const { type, enum: words, ...rest } = shape
  if (typeof type !== 'string') return { anyOf: [shape, { type: 'null' }] }
  const choice = Array.isArray(words) ? { enum: [...(words as unknown[]), null] } : {}
  return { type: [type, 'null'], ...choice, ...rest }
}

type OptionalKey<T> = {
  [Key in keyof T]-?: object extends Pick<T, Key> ? Key : never
}[keyof T]

/**
 * An object that travels as `Wire`: the compiler sees to it that no field of that type is missing
 * here. Further ones may be added one day, so it is not closed.
 */
export function record<Wire extends object>(
  description: string,
  properties: Readonly<Record<keyof Wire, Shape>>,
  optional: readonly OptionalKey<Wire>[] = [],
): Shape {
  const left = new Set<string>(optional as readonly string[])
  const required = Object.keys(properties).filter((name) => !left.has(name))
  return { type: 'object', required, properties, description }
}

export function page(name: string): Shape {
  return record<{ data: unknown; next_cursor: unknown }>(`A page of a list.`, {
    data: list(ref(name), 'What is on this page.'),
    next_cursor: orNull(text('Ask for the next page with this `cursor`; null on the last page.')),
  })
}

/** A list that is short enough to come whole. */
export function listOf(name: string): Shape {
  return record<{ data: unknown }>('A whole list.', { data: list(ref(name), 'All of them.') })
}
