import type { Route } from '../http/route-table.ts'
import { bodyRef, describe } from './body-schemas.ts'
import { headersOf } from '../shapes/headers.ts'
import { PARAMETERS, PARAMETERS_OF } from './field-docs.ts'
import { problemsOf } from './problems.ts'
import { ANY_PROBLEM, refusalsOf } from './refusals.ts'
import { REMARKS } from './operation-docs.ts'
import { ref, type Shape } from '../shapes/shapes.ts'
import { PLAIN, tagOf } from './tags.ts'
import type { Status, Told } from '../http/route-docs.ts'

export function operationOf(route: Route): object {
  const { method, path, permission, everywhere, schema, told = { answers: {} } } = route
  const { description, examples } = REMARKS[`${method} ${path}`] ?? {}
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
    parameters: parametersOf(route, told),
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
    responses: { ...answersOf(told), ...refusalsOf(problems), default: ANY_PROBLEM },
    'x-problems': problems,
  }
}

/** `GET /v1/runs/{id}/logs` is `getRunsIdLogs`: stable, and nobody has to think of it. `GET /jobs` is `getPlainJobs`. */
function operationId(method: string, path: string): string {
  const isPlain = tagOf({ method, path }) === PLAIN
  const words = path.replace(/^\/v1/, '').match(/[A-Za-z]+/g) ?? []
  const all = isPlain ? ['plain', ...words] : words
  return method.toLowerCase() + all.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')
}

function parametersOf({ path, schema }: Route, { takes = [] }: Told): object[] {
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
    const own = place === 'path' ? PATHS[name]?.(path) : PARAMETERS_OF[path]?.[name]
    const meaning = own ?? PARAMETERS[name]
    const { description, ...checked } = describe(property, meaning)
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      description,
      schema: checked,
    }
  })
}

/** What a name in a path is the name of, by the collection it is in. */
const NAMED: Readonly<Record<string, string>> = {
  jobs: 'The job.',
  queues: 'The queue.',
  secrets: 'The secret.',
  webhooks: 'The webhook.',
  hooks: 'The hook.',
}

/** In a path the same word means another thing with every resource. */
const PATHS: Readonly<Record<string, (path: string) => string>> = {
  id(path) {
    if (path.startsWith('/v1/tokens')) return 'The token, such as `tok_1`.'
    if (path.startsWith('/v1/webhooks')) return 'The delivery.'
    if (path.startsWith('/jobs')) return 'The job, by its number.'
    if (path.startsWith('/workers')) return 'The worker, by the name it registered with.'
    return 'The run, such as `run_00f3k9m2q7x`.'
  },
  step: () => 'The step, by its name.',
  name: (path) => NAMED[path.split('/')[2] ?? ''] ?? 'Its name.',
}

const WORDS: Readonly<Record<string, string>> = {
  200: 'Done.',
  201: 'Done, and something new is there.',
  204: 'Done, and there is nothing to say.',
  503: 'Not now.',
}

function answersOf({ answers, gives = {} }: Told): Record<string, object> {
  return Object.fromEntries(
    Object.entries(answers).map(([status, what]) => [
      status,
      {
        description: WORDS[status],
        ...headersOf(gives[Number(status) as Status] ?? []),
        ...(what === null ? {} : { content: contentOf(what as string) }),
      },
    ]),
  )
}

function contentOf(what: string): object {
  if (!what.includes('/')) return { 'application/json': { schema: ref(what) } }
  return { [what]: { schema: { type: 'string' } } }
}
