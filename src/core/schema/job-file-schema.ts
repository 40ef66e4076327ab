import { type TSchema, Type } from 'typebox'
import { LIMITS } from '../limits.ts'
import { METHODS } from '../work/web-request.ts'
import { fields, arrayOf, longText, name, wholeNumber } from './fields.ts'
import { JobDefinitionSchema } from './job-schema.ts'
import { DeclaredScheduleSchema } from './schedule-schema.ts'
import { StepSchema } from './workflow-schema.ts'

/**
 * The schema of job files: all fields of the API, and short forms for some of them. The same field schemas check
 * requests.
 */

const {
  retry,
  http,
  tags,
  concurrency,
  steps: _,
  source: _source,
  ...ofJobs
} = JobDefinitionSchema.properties
const { url: __, method: ___, ...ofRequests } = http.properties

export const FileRetrySchema = either('a whole number of retries, or an object', [
  wholeNumber(0, LIMITS.retries),
  retry,
])

const verbs = Object.fromEntries(
  METHODS.map((method) => [method.toLowerCase(), Type.Optional(longText())]),
)

export const FileHttpRequestSchema = fields({
  url: Type.Optional(longText()),
  method: Type.Optional(longText()),
  ...verbs,
  ...ofRequests,
})

export const FileScheduleSchema = fields({
  ...DeclaredScheduleSchema.properties,
  timezone: Type.Optional(longText()),
})

const shorter = {
  retry: Type.Optional(FileRetrySchema),
  http: Type.Optional(FileHttpRequestSchema),
  image: Type.Optional(longText()),
}

export const FileStepSchema = fields({ ...StepSchema.properties, ...shorter })

const { cron, every, at } = DeclaredScheduleSchema.properties

export const JobFileSchema = fields({
  ...ofJobs,
  cron,
  every,
  at,
  timezone: Type.Optional(longText()),
  schedule: Type.Optional(
    either(`a schedule, or a list of at most ${LIMITS.schedules}`, [
      FileScheduleSchema,
      arrayOf(FileScheduleSchema, LIMITS.schedules),
    ]),
  ),
  tags: Type.Optional(
    either('a list of words, or an object of tags and their texts', [
      arrayOf(name(), LIMITS.tags),
      tags,
    ]),
  ),
  concurrency: Type.Optional(
    either('a whole number, none, an object of limit and key, or a list of those', [
      wholeNumber(1, LIMITS.gateCapacity),
      ...(concurrency as unknown as { anyOf: TSchema[] }).anyOf,
    ]),
  ),
  ...shorter,
  steps: Type.Optional(
    either('a list of steps, or an object of steps by name', [
      Type.Unsafe({ type: 'array', items: FileStepSchema, description: 'a list of steps' }),
      Type.Unsafe({
        type: 'object',
        additionalProperties: FileStepSchema,
        description: 'an object of steps by name',
      }),
    ]),
  ),
})

function either(description: string, anyOf: readonly TSchema[]) {
  return Type.Unsafe<unknown>({ anyOf: [...anyOf], description })
}
