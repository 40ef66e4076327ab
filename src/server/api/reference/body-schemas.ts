import { FIELD_DOCS } from './field-docs.ts'
import { BODIES, type BodyName } from './bodies.ts'
import { refShape, type Shape } from '../shapes/shapes.ts'

const NAMES = new Map<unknown, string>(Object.entries(BODIES).map(([name, body]) => [body, name]))

/** A reference to the schema, if it has a name. */
export function bodyRef(schema: unknown): Shape {
  const name = NAMES.get(schema)
  return name === undefined ? (schema as Shape) : refShape(name)
}

/** The schemas that check requests, with descriptions of their fields. */
export function bodySchemas(): Record<string, Shape> {
  return Object.fromEntries(
    Object.entries(BODIES).map(([name, body]) => [
      name,
      withFieldDocs(body as unknown as Shape, FIELD_DOCS[name as BodyName]),
    ]),
  )
}

function withFieldDocs(
  body: Shape & { readonly properties?: Shape },
  fieldDocs: Readonly<Record<string, string>>,
): Shape {
  // A schema that accepts anything has no fields.
  if (body.properties === undefined) return body
  const { properties, description: _, ...schema } = body
  const described = Object.entries(properties).map(([field, property]) => {
    const inner = withRefs(property) as Shape
    return [field, withDescription(inner, fieldDocs[field])]
  })
  return { ...schema, properties: Object.fromEntries(described) as Shape }
}

/** Describes a field: its purpose, then its constraint in the words of a validation error. */
export function withDescription(schema: Shape, purpose: string | undefined): Shape {
  const { description } = schema
  const rule = typeof description === 'string' && description !== 'an object' ? description : ''
  const sentences = [purpose, rule && `${rule.charAt(0).toUpperCase()}${rule.slice(1)}.`]
  return { ...schema, description: sentences.filter(Boolean).join(' ') }
}

function withRefs(value: unknown): unknown {
  const name = NAMES.get(value)
  if (name !== undefined) return refShape(name)
  if (Array.isArray(value)) return value.map(withRefs)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withRefs(inner)]))
}
