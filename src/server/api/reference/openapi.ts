import { ERRORS } from '../../../core/errors.ts'
import type { Route } from '../http/route-table.ts'
import { bodySchemas } from './body-schemas.ts'
import { ANSWER_HEADERS, REQUEST_HEADERS } from '../shapes/headers.ts'
import { operationOf } from './operation.ts'
import { COMMON_PROBLEMS, problemsOf } from './problems.ts'
import { refusalComponents } from './refusals.ts'
import { TAGS } from './tags.ts'
import { ANSWERS } from '../shapes/answers.ts'

const DESCRIPTION = `Submit, define, watch and steer runs.

Bodies and answers are JSON with snake_case names. Times are RFC 3339 with a zone; durations are text \
with units (\`90s\`, \`15m\`, \`1h30m\`), or milliseconds where a name ends in \`_ms\`. Fields that are not \
listed are refused, never ignored.

Errors are problems (RFC 9457): read \`code\` in programs, show \`detail\` and \`hint\` to people. Any \
request may be answered with ${COMMON_PROBLEMS.map((code) => `\`${code}\``).join(', ')}; what else may go \
wrong stands with each operation.`

/**
 * The API as OpenAPI 3.1, generated from the schemas that check requests, so it cannot deviate from
 * them.
 */
export function openApiOf(routes: readonly Route[], version: string): object {
  const paths: Record<string, Record<string, object>> = {}
  // Web pages have no documentation.
  const documented = routes.filter((route) => route.docs !== undefined)
  for (const route of documented) {
    const path = (paths[route.path] ??= {})
    path[route.method.toLowerCase()] = operationOf(route)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Punctual',
      version,
      description: DESCRIPTION,
      contact: { name: 'The operator of this server' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    tags: TAGS,
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'A token; the first start wrote one to `.punctual/admin-token`.',
        },
      },
      parameters: named(REQUEST_HEADERS, (name, header) => ({ name, in: 'header', ...header })),
      headers: ANSWER_HEADERS,
      responses: refusalComponents(documented.map(problemsOf)),
      schemas: { ...ANSWERS, ...bodySchemas() },
    },
    'x-problems': named(ERRORS, (_, [status, hint]) => ({ status, hint })),
  }
}

function named<Value, Made>(
  values: Readonly<Record<string, Value>>,
  make: (name: string, value: Value) => Made,
): Record<string, Made> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, make(name, value)]),
  )
}
