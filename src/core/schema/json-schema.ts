import {
  EXECUTION_FIELD_DOCS,
  JOB_FIELD_DOCS,
  RUN_FIELD_DOCS,
  PARAMETER_FIELD_DOCS,
  RETRY_FIELD_DOCS,
  SCHEDULE_FIELD_DOCS,
  STEP_FIELD_DOCS,
  TRIGGER_FIELD_DOCS,
} from './field-docs.ts'
import { DEFAULTS, EXAMPLES } from './examples.ts'
import {
  FileScheduleSchema,
  FileStepSchema,
  JobFileSchema,
  FileHttpRequestSchema,
  FileRetrySchema,
} from './job-file-schema.ts'
import { ParameterSchema, TriggerSchema } from './workflow-schema.ts'

type Schema = Readonly<Record<string, unknown>>
type FieldDocs = Readonly<Record<string, string | undefined>>

const REFERENCE = 'docs/reference/job-files.md'

/**
 * The JSON Schema of job files, built from the schemas that check requests. Editors use it to complete, explain and
 * check a file.
 */
export function jobFileSchema(): Schema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: '/schema/v1/job.json',
    ...withDocs(JobFileSchema, { ...JOB_FIELD_DOCS, ...SHORT }),
    title: 'A job of Punctual',
    description: `The contents of a file <name>.job.yaml. See ${REFERENCE}.`,
    $defs: {
      step: withDocs(FileStepSchema, { ...STEP_FIELD_DOCS, ...SHORT }),
      schedule: withDocs(FileScheduleSchema, { ...SCHEDULE_FIELD_DOCS, ...SHORT, name: NAMED }),
      parameter: withDocs(ParameterSchema, PARAMETER_FIELD_DOCS),
      trigger: withDocs(TriggerSchema, TRIGGER_FIELD_DOCS),
      request: withDocs(FileHttpRequestSchema, REQUEST),
    },
  }
}

const NAMED = 'The name within the job; by default the position in the list, counted from 1.'

const SHORT: FieldDocs = {
  cron: SCHEDULE_FIELD_DOCS['cron'],
  every: SCHEDULE_FIELD_DOCS['every'],
  at: SCHEDULE_FIELD_DOCS['at'],
  zone: SCHEDULE_FIELD_DOCS['zone'],
  timezone: SCHEDULE_FIELD_DOCS['zone'],
  image: 'A container of this image; `run` or `argv` is the command in it.',
  retry: `${RUN_FIELD_DOCS['retry']} A number is the maximum number of attempts after the first.`,
  http: `${EXECUTION_FIELD_DOCS['http']} \`get\`, \`post\` … set method and URL in one.`,
}

const REQUEST: FieldDocs = {
  url: 'The URL.',
  method: '`GET` by default, or `POST` with a body.',
  headers: 'Headers and their values.',
  body: 'The body, as text.',
  json: 'The body, as a value.',
  expect: 'Statuses that count as success; `200-299` by default.',
  max_response: 'Maximum size of the answer that is read; 1 MiB by default.',
  redirects: 'Maximum number of redirects; 3 by default.',
}

const DEFINITIONS = new Map<unknown, string>([
  [FileStepSchema, '#/$defs/step'],
  [FileScheduleSchema, '#/$defs/schedule'],
  [ParameterSchema, '#/$defs/parameter'],
  [TriggerSchema, '#/$defs/trigger'],
  [FileHttpRequestSchema, '#/$defs/request'],
])

/** Adds documentation, defaults and examples to the fields of an object. */
function withDocs(schema: object, docs: FieldDocs): Schema {
  const { properties = {}, ...rest } = schema as { properties?: Readonly<Record<string, object>> }
  const fields = Object.entries(properties).map(([name, property]) => {
    return [name, describe(name, property as Schema, docs[name])]
  })
  return { ...(withReferences(rest) as Schema), properties: Object.fromEntries(fields) as Schema }
}

function describe(name: string, property: Schema, doc: string | undefined): Schema {
  const rule = typeof property['description'] === 'string' ? property['description'] : ''
  const must =
    rule === '' || rule === 'an object' ? '' : `${rule.charAt(0).toUpperCase()}${rule.slice(1)}.`
  const of = property === (FileRetrySchema as unknown as Schema) ? RETRY_FIELD_DOCS : {}
  return {
    ...(named(property) ?? (withReferences(property, of) as Schema)),
    description: [doc ?? `Sends the request with ${name.toUpperCase()}.`, must]
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

/** Replaces named schemas with references, and removes internal properties. */
function withReferences(value: unknown, docs: FieldDocs = {}): unknown {
  const reference = named(value)
  if (reference) return reference
  if (Array.isArray(value)) return value.map((item) => withReferences(item, docs))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([key]) => !key.startsWith('~'))
  return Object.fromEntries(
    entries.map(([key, inner]) => [
      key,
      key === 'properties' ? inside(inner as Schema, docs) : withReferences(inner, docs),
    ]),
  )
}

function inside(properties: Schema, docs: FieldDocs): Schema {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      named(schema) ?? describe(name, schema as Schema, docs[name] ?? RETRY_FIELD_DOCS[name] ?? ''),
    ]),
  )
}
