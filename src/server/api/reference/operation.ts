import type { Route } from '../http/route-table.ts'
import { bodyRef, withDescription } from './body-schemas.ts'
import { DESCRIPTIONS } from './descriptions.ts'
import { eventStreamSchema, isEventStream } from './event-shapes.ts'
import { responseHeadersOf } from '../shapes/headers.ts'
import { LINKS } from './links.ts'
import { PARAMETER_DOCS, PARAMETER_DOCS_BY_PATH } from './field-docs.ts'
import { problemsOf } from './problems.ts'
import { ANY_PROBLEM, refusalsOf } from './refusals.ts'
import { OPERATION_DOCS } from './operation-docs.ts'
import { refShape, type Shape } from '../shapes/shapes.ts'
import { operationId } from './operation-id.ts'
import { tagOf } from './tags.ts'
import type { Status, RouteDocs } from '../http/route-docs.ts'

export function operationOf(route: Route): object {
  const { method, path, permission, everywhere, schema, docs = { answers: {} } } = route
  const name = `${method} ${path}`
  const { description = DESCRIPTIONS[name], examples } = OPERATION_DOCS[name] ?? {}
  const links = LINKS[name]
  const body = schema.body as Shape | undefined
  const problems = problemsOf(route)
  return {
    operationId: operationId(method, path),
    tags: [tagOf(route)],
    summary: schema.summary ?? path,
    ...(description ? { description } : {}),
    ...(permission === 'public' ? { security: [] } : {}),
    'x-permission': permission,
    ...(everywhere ? { 'x-everywhere': true } : {}),
    parameters: parametersOf(route, docs),
    ...(body
      ? {
          requestBody: {
            required: !route.bodyIsOptional,
            content: {
              'application/json': { schema: bodyRef(body), ...(examples ? { examples } : {}) },
            },
          },
        }
      : {}),
    responses: { ...answersOf(docs, links), ...refusalsOf(problems), default: ANY_PROBLEM },
    'x-problems': problems,
  }
}

function parametersOf({ path, schema }: Route, { takes = [] }: RouteDocs): object[] {
  const headers = path.startsWith('/v1/') ? ['Punctual-Project', ...takes] : takes
  return [
    ...fieldsOf('path', schema.params, path),
    ...fieldsOf('query', schema.querystring, path),
    ...headers.map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ]
}

function fieldsOf(place: 'path' | 'query', schema: unknown, path: string): object[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    readonly properties?: Readonly<Record<string, Shape>>
    readonly required?: readonly string[]
  }
  return Object.entries(properties).map(([name, property]) => {
    const own = place === 'path' ? PATHS[name]?.(path) : PARAMETER_DOCS_BY_PATH[path]?.[name]
    const purpose = own ?? PARAMETER_DOCS[name]
    const { description, ...checked } = withDescription(
      place === 'query' ? asNumber(property) : { ...property, ...idPattern(name, path) },
      purpose,
    )
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      description,
      schema: checked,
    }
  })
}

/** A query has only text, but a client writes a count as a number. */
function asNumber(property: Shape): Shape {
  const { description = '' } = property as { readonly description?: string }
  const [, least = '0', most] = COUNT.exec(description) ?? []
  if (!COUNT.test(description)) return property
  const maximum = most === undefined ? {} : { maximum: Number(most) }
  return { type: 'integer', minimum: Number(least), ...maximum, description }
}

const COUNT = /^a whole number(?:, (\d+) (?:or more|to (\d+)))?/

const ID = '[0-7][0-9a-hjkmnp-tv-z]{10}'
const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const ID_PATTERNS: readonly [path: RegExp, pattern: string][] = [
  [/^\/v1\/runs\/\{id\}/, `^(?:run_${ID}|${UUID})$`],
  [/^\/v1\/backfills\//, `^bkf_${ID}$`],
  [/^\/v1\/webhooks\//, `^dlv_${ID}$`],
  [/^\/v1\/workers\//, `^ses_${ID}$`],
]

/** The canonical form of an id; requests may also use other spellings. */
function idPattern(name: string, path: string): Shape {
  if (name !== 'id' && name !== 'session') return {}
  const [, pattern] = ID_PATTERNS.find(([paths]) => paths.test(path)) ?? []
  return pattern === undefined ? {} : { pattern }
}

/** What a name in a path refers to, by the collection it is in. */
const NAME_DOCS: Readonly<Record<string, string>> = {
  jobs: 'The job.',
  queues: 'The queue.',
  secrets: 'The secret.',
  webhooks: 'The webhook.',
  hooks: 'The hook.',
}

/** A path parameter with the same name differs for each resource. */
const PATHS: Readonly<Record<string, (path: string) => string>> = {
  id(path) {
    if (path.startsWith('/v1/tokens')) return 'The token, such as `tok_1`.'
    if (path.startsWith('/v1/webhooks')) return 'The delivery.'
    if (path.startsWith('/jobs')) return 'The job, by its number.'
    if (path.startsWith('/workers')) return 'The worker, by the name it registered with.'
    return 'The run, such as `run_00f3k9m2q7x`, or the UUID that `GET /job` shows.'
  },
  step: () => 'The step, by its name.',
  name: (path) => NAME_DOCS[path.split('/')[2] ?? ''] ?? 'Its name.',
}

const WORDS: Readonly<Record<string, string>> = {
  200: 'Done.',
  201: 'Created.',
  204: 'Done, without a body.',
  503: 'Not now.',
}

function answersOf(
  { answers, gives = {} }: RouteDocs,
  links: object | undefined,
): Record<string, object> {
  return Object.fromEntries(
    Object.entries(answers).map(([status, what]) => [
      status,
      {
        description: WORDS[status],
        ...responseHeadersOf(gives[Number(status) as Status] ?? []),
        ...(what === null ? {} : { content: contentOf(what as string) }),
        ...(links && isMade(status) ? { links } : {}),
      },
    ]),
  )
}

/** Links exist only in successful responses. */
function isMade(status: string): boolean {
  return status === '200' || status === '201'
}

function contentOf(what: string): object {
  if (isEventStream(what)) return { 'text/event-stream': { schema: eventStreamSchema(what) } }
  if (!what.includes('/')) return { 'application/json': { schema: refShape(what) } }
  return { [what]: { schema: { type: 'string' } } }
}
