import { MEANINGS } from './field-docs.ts'
import { BODIES, type BodyName } from '../shapes/answers.ts'
import { ref, type Shape } from '../shapes/shapes.ts'

const NAMES = new Map<unknown, string>(Object.entries(BODIES).map(([name, body]) => [body, name]))

/** Where a schema is described, if it has a name. */
export function bodyRef(schema: unknown): Shape {
  const name = NAMES.get(schema)
  return name === undefined ? (schema as Shape) : ref(name)
}

/** The schemas that check requests, with what their fields are for. */
export function bodySchemas(): Record<string, Shape> {
  return Object.fromEntries(
    Object.entries(BODIES).map(([name, body]) => [
      name,
      withMeanings(body as unknown as Shape, MEANINGS[name as BodyName]),
    ]),
  )
}

function withMeanings(
  body: Shape & { readonly properties?: Shape },
  meanings: Readonly<Record<string, string>>,
): Shape {
  // What may be anything has no fields to speak of.
  if (body.properties === undefined) return body
  const { properties, description: _, ...schema } = body
  const told = Object.entries(properties).map(([field, property]) => {
    const inner = withRefs(property) as Shape
    return [field, describe(inner, meanings[field])]
  })
  return { ...schema, properties: Object.fromEntries(told) as Shape }
}

/** What a field is for, then what it must be: the words of a refusal. */
export function describe(schema: Shape, meaning: string | undefined): Shape {
  const { description } = schema
  const rule = typeof description === 'string' && description !== 'an object' ? description : ''
  const sentences = [meaning, rule && `${rule.charAt(0).toUpperCase()}${rule.slice(1)}.`]
  return { ...schema, description: sentences.filter(Boolean).join(' ') }
}

function withRefs(value: unknown): unknown {
  const name = NAMES.get(value)
  if (name !== undefined) return ref(name)
  if (Array.isArray(value)) return value.map(withRefs)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withRefs(inner)]))
}
