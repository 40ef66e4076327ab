import type { Route } from './route-table.ts'

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, { readonly description?: string }>>
  readonly required?: readonly string[]
}

const PROBLEM = { $ref: '#/components/schemas/Problem' }
const SUCCESS: Readonly<Record<string, string>> = {
  GET: '200',
  PUT: '200',
  PATCH: '200',
  POST: '200',
  DELETE: '204',
}

/** The API as OpenAPI 3.1, made from the schemas that check requests: it cannot say anything else. */
export function openApiOf(routes: readonly Route[], version: string): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    const path = (paths[route.path] ??= {})
    path[route.method.toLowerCase()] = operationOf(route)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Punctual',
      version,
      description: 'Submit, define, watch and steer runs. Errors are RFC 9457 problems.',
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Problem: problem },
    },
  }
}

function operationOf({ method, path, permission, schema }: Route): object {
  const { summary = path, params, querystring, body } = schema
  return {
    operationId: operationId(method, path),
    summary,
    'x-permission': permission,
    ...(permission === 'public' ? { security: [] } : {}),
    parameters: [
      ...parametersOf('path', params as ObjectSchema | undefined),
      ...parametersOf('query', querystring as ObjectSchema | undefined),
    ],
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    responses: {
      [SUCCESS[method] ?? '200']: { description: 'Done.' },
      default: {
        description: 'A problem: its code says which, its hint what to do.',
        content: { 'application/problem+json': { schema: PROBLEM } },
      },
    },
  }
}

function parametersOf(place: 'path' | 'query', schema: ObjectSchema | undefined): object[] {
  const required = new Set(schema?.required)
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || required.has(name),
    ...(property.description ? { description: property.description } : {}),
    schema: property,
  }))
}

/** `GET /v1/runs/{id}/logs` is `getRunsIdLogs`: stable, and nobody has to think of it. */
function operationId(method: string, path: string): string {
  const words = path.replace(/^\/v1/, '').match(/[A-Za-z]+/g) ?? []
  return method.toLowerCase() + words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')
}

const problem = {
  type: 'object',
  required: ['type', 'title', 'status', 'code', 'detail', 'hint', 'request_id'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    code: { type: 'string', description: 'for programs; never changes its meaning' },
    detail: { type: 'string', description: 'what went wrong, for people' },
    hint: { type: 'string', description: 'what to do next' },
    field: { type: 'string', description: 'the part of the request that is wrong' },
    request_id: { type: 'string' },
  },
}
