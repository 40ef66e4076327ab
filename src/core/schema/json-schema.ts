import { EXECUTED, JOB, OF_RUNS, PARAMETER, RETRY, SCHEDULE, STEP, TRIGGER } from './field-docs.ts'
import { DEFAULTS, EXAMPLES } from './examples.ts'
import { FileSchedule, FileStep, JobFile, Request, Retry } from './job-file-schema.ts'
import { Parameter, Trigger } from './workflow-schema.ts'

type Schema = Readonly<Record<string, unknown>>
type Meanings = Readonly<Record<string, string | undefined>>

const REFERENCE = 'docs/reference/job-files.md'

/**
 * The JSON Schema of files with jobs, made of the shapes that check requests: what an editor needs to
 * complete, explain and check while somebody writes.
 */
export function jobFileSchema(): Schema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: '/schema/v1/job.json',
    ...told(JobFile, { ...JOB, ...SHORT }),
    title: 'A job of Punctual',
    description: `What a file <name>.job.yaml may say. ${REFERENCE} tells more.`,
    $defs: {
      step: told(FileStep, { ...STEP, ...SHORT }),
      schedule: told(FileSchedule, { ...SCHEDULE, ...SHORT, name: NAMED }),
      parameter: told(Parameter, PARAMETER),
      trigger: told(Trigger, TRIGGER),
      request: told(Request, REQUEST),
    },
  }
}

const NAMED = 'Its name within the job; its place in the list, counted from 1, if absent.'

const SHORT: Meanings = {
  cron: SCHEDULE['cron'],
  every: SCHEDULE['every'],
  at: SCHEDULE['at'],
  zone: SCHEDULE['zone'],
  timezone: SCHEDULE['zone'],
  image: 'A container of this image; `run` or `argv` beside it is what it starts.',
  retry: `${OF_RUNS['retry']} A number is how many attempts may follow the first.`,
  http: `${EXECUTED['http']} \`get\`, \`post\` … are method and address in one.`,
}

const REQUEST: Meanings = {
  url: 'Where to.',
  method: '`GET`, or `POST` with a body, if absent.',
  headers: 'Headers and their texts.',
  body: 'The body, as text.',
  json: 'The body, as a value.',
  expect: 'Statuses that are a success; `200-299` if absent.',
  max_response: 'How much of the answer is read; 1 MiB if absent.',
  redirects: 'How many are followed; 3 if absent.',
}

const DEFINITIONS = new Map<unknown, string>([
  [FileStep, '#/$defs/step'],
  [FileSchedule, '#/$defs/schedule'],
  [Parameter, '#/$defs/parameter'],
  [Trigger, '#/$defs/trigger'],
  [Request, '#/$defs/request'],
])

/** An object whose fields say what they are for, what they must be, and how that looks. */
function told(schema: object, meanings: Meanings): Schema {
  const { properties = {}, ...rest } = schema as { properties?: Readonly<Record<string, object>> }
  const fields = Object.entries(properties).map(([name, property]) => {
    return [name, describe(name, property as Schema, meanings[name])]
  })
  return { ...(plain(rest) as Schema), properties: Object.fromEntries(fields) as Schema }
}

function describe(name: string, property: Schema, meaning: string | undefined): Schema {
  const rule = typeof property['description'] === 'string' ? property['description'] : ''
  const must =
    rule === '' || rule === 'an object' ? '' : `${rule.charAt(0).toUpperCase()}${rule.slice(1)}.`
  const of = property === (Retry as unknown as Schema) ? RETRY : {}
  return {
    ...(named(property) ?? (plain(property, of) as Schema)),
    description: [meaning ?? `Sends the request with ${name.toUpperCase()}.`, must]
      .filter(Boolean)
      .join(' '),
    ...(Object.hasOwn(DEFAULTS, name) ? { default: DEFAULTS[name] } : {}),
    ...(EXAMPLES[name] ? { examples: EXAMPLES[name] } : {}),
  }
}

function named(schema: unknown): Schema | undefined {
  const $ref = DEFINITIONS.get(schema)
  return $ref === undefined ? undefined : { $ref }
}

/** Schemas with a name are referred to, and what is only for us is left out. */
function plain(value: unknown, meanings: Meanings = {}): unknown {
  const reference = named(value)
  if (reference) return reference
  if (Array.isArray(value)) return value.map((item) => plain(item, meanings))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([key]) => !key.startsWith('~'))
  return Object.fromEntries(
    entries.map(([key, inner]) => [
      key,
      key === 'properties' ? inside(inner as Schema, meanings) : plain(inner, meanings),
    ]),
  )
}

function inside(properties: Schema, meanings: Meanings): Schema {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      named(schema) ?? describe(name, schema as Schema, meanings[name] ?? RETRY[name] ?? ''),
    ]),
  )
}
