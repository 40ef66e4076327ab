import { Compile } from 'typebox/schema'
import type { Document, Schema } from './openapi-document.ts'

/** Describes what is wrong with a value; undefined if nothing is. */
export type SchemaCheck = (schema: Schema, value: unknown) => string | undefined

/**
 * Checks values against the schemas of the reference. Schemas of answers are open, because fields may be added
 * later; here they are closed, so that an undescribed field is found.
 */
export function createSchemaCheck(document: Document): SchemaCheck {
  const components = { schemas: closed(document.components.schemas) }
  const compiled = new Map<Schema, ReturnType<typeof Compile>>()
  return (schema, value) => {
    const known = compiled.get(schema)
    const check = known ?? Compile({ ...(closed(schema) as object), components })
    if (!known) compiled.set(schema, check)
    if (check.Check(value)) return undefined
    const [, errors] = check.Errors(value)
    return errors
      .slice(0, 3)
      .map(({ instancePath, message, keyword, params }) => {
        const what = keyword === 'additionalProperties' ? ` ${JSON.stringify(params)}` : ''
        return `${instancePath || 'the value'} ${message}${what}`
      })
      .join('; ')
  }
}

function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed)
  if (typeof value !== 'object' || value === null) return value
  const inner = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, closed(part)]))
  const isOpen = 'properties' in inner && [inner.type].flat().includes('object')
  return isOpen ? { additionalProperties: false, ...inner } : inner
}
