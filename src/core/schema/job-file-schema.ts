import { type TSchema, Type } from 'typebox'
import { LIMITS } from '../limits.ts'
import { METHODS } from '../work/web-request.ts'
import { fields, list, longText, name, wholeNumber } from './fields.ts'
import { JobDefinition } from './job-schema.ts'
import { Declared } from './schedule-schema.ts'
import { Step } from './workflow-schema.ts'

/**
 * What a file with a job may say: everything the API takes, and shorter ways to say the same. The shapes
 * are the very ones that check requests.
 */

const {
  retry,
  http,
  tags,
  concurrency,
  steps: _,
  source: _source,
  ...ofJobs
} = JobDefinition.properties
const { url: __, method: ___, ...ofRequests } = http.properties

export const Retry = either('a whole number of retries, or an object', [
  wholeNumber(0, LIMITS.retries),
  retry,
])

const verbs = Object.fromEntries(
  METHODS.map((method) => [method.toLowerCase(), Type.Optional(longText())]),
)

export const Request = fields({
  url: Type.Optional(longText()),
  method: Type.Optional(longText()),
  ...verbs,
  ...ofRequests,
})

export const FileSchedule = fields({ ...Declared.properties, timezone: Type.Optional(longText()) })

const shorter = {
  retry: Type.Optional(Retry),
  http: Type.Optional(Request),
  image: Type.Optional(longText()),
}

export const FileStep = fields({ ...Step.properties, ...shorter })

const { cron, every, at } = Declared.properties

export const JobFile = fields({
  ...ofJobs,
  cron,
  every,
  at,
  timezone: Type.Optional(longText()),
  schedule: Type.Optional(
    either(`a schedule, or a list of at most ${LIMITS.schedules}`, [
      FileSchedule,
      list(FileSchedule, LIMITS.schedules),
    ]),
  ),
  tags: Type.Optional(
    either('a list of words, or an object of tags and their texts', [
      list(name(), LIMITS.tags),
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
      Type.Unsafe({ type: 'array', items: FileStep, description: 'a list of steps' }),
      Type.Unsafe({
        ...{ type: 'object', additionalProperties: FileStep },
        description: 'an object of steps by name',
      }),
    ]),
  ),
})

function either(description: string, anyOf: readonly TSchema[]) {
  return Type.Unsafe<unknown>({ anyOf: [...anyOf], description })
}
