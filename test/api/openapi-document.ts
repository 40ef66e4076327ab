import assert from 'node:assert/strict'

/** The parts of OpenAPI 3.1 that the tests need. */
export interface Document {
  readonly openapi: string
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly parameters: Readonly<Record<string, OpenApiParameter>>
    readonly headers: Readonly<
      Record<string, { readonly schema: Schema; readonly required?: boolean }>
    >
  }
  readonly 'x-problems': Readonly<Record<string, { readonly status: number }>>
}

export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly propertyNames?: Schema
  readonly maxProperties?: number
  readonly items?: Schema
  readonly prefixItems?: readonly Schema[]
  readonly contentMediaType?: string
  readonly contentSchema?: Schema
  readonly minItems?: number
  readonly maxItems?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly pattern?: string
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly description?: string
  readonly examples?: readonly unknown[]
}

export interface OpenApiParameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description: string
  readonly schema: Schema
}

interface Content {
  readonly schema: Schema
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}

export interface Response {
  readonly description: string
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>
  readonly content?: Readonly<Record<string, Content>>
  readonly links?: Readonly<Record<string, Link>>
}

/** From a value in an answer to an operation that takes it. */
export interface Link {
  readonly operationId: string
  readonly parameters: Readonly<Record<string, string>>
  readonly description: string
}

interface RawOperation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly parameters: readonly (OpenApiParameter | { readonly $ref: string })[]
  readonly requestBody?: { readonly content: { readonly 'application/json': Content } }
  readonly responses: Readonly<Record<string, Response | { readonly $ref: string }>>
  readonly 'x-permission': string
  readonly 'x-problems': readonly string[]
}

export interface Operation extends RawOperation {
  readonly method: string
  readonly path: string
  readonly parameters: readonly OpenApiParameter[]
  readonly responses: Readonly<Record<string, Response>>
  /** The schema of the body, wherever it is defined. */
  readonly body: Schema | undefined
}

/** Every operation, with references resolved. */
export function operationsOf(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
      parameters: operation.parameters.map((one) =>
        '$ref' in one ? (resolvePointer(document, one.$ref) as OpenApiParameter) : one,
      ),
      responses: Object.fromEntries(
        Object.entries(operation.responses).map(([status, response]) => [
          status,
          '$ref' in response ? (resolvePointer(document, response.$ref) as Response) : response,
        ]),
      ),
      body: operation.requestBody?.content['application/json'].schema,
    })),
  )
}

/** The value a pointer such as `#/components/schemas/Run` refers to. */
export function resolvePointer(document: Document, pointer: string): unknown {
  let found: unknown = document
  for (const part of pointer.replace(/^#\//, '').split('/')) {
    found = (found as Readonly<Record<string, unknown>> | undefined)?.[part]
  }
  assert.ok(found !== undefined, `${pointer} points at nothing`)
  return found
}

/** The schema itself, if this one is a reference. */
export function resolved(document: Document, schema: Schema): Schema {
  return schema.$ref === undefined ? schema : (resolvePointer(document, schema.$ref) as Schema)
}
