import { type TSchema, Type } from 'typebox'
import type { DeclaredSchedule } from '../job/job-definition.ts'
import { LIMITS } from '../limits.ts'
import {
  MISSED_POLICIES,
  type ScheduleDefinition,
} from '../schedule/definition/schedule-definition.ts'
import {
  duration,
  fields,
  booleanField,
  arrayOf,
  longText,
  name,
  oneOf,
  boundedText,
  time,
  wholeNumber,
} from './fields.ts'

/** Time values are checked by the schedule readers, which give better error messages. */
const Missed = Type.Unsafe<NonNullable<ScheduleDefinition['missed']>>({
  anyOf: [
    oneOf(MISSED_POLICIES),
    fields({
      policy: oneOf(MISSED_POLICIES),
      max_age: Type.Optional(duration()),
      max_count: Type.Optional(wholeNumber(1, LIMITS.madeUpTimes)),
      every: Type.Optional(duration()),
    }),
  ],
  description: `one of ${MISSED_POLICIES.join(', ')}, or an object of policy and its bounds`,
})

/** Expectations for all schedules of a job, or for one. */
export const expectationFields = {
  deadline: Type.Optional(
    Type.String({ description: 'a duration, such as 30m, or a time of day, such as 05:30' }),
  ),
  expect: Type.Optional(
    fields({
      start: Type.Optional(duration()),
      duration: Type.Optional(
        Type.String({
          description: 'a duration, such as 20m, or a multiple of the typical duration, such as 2x',
        }),
      ),
      output: Type.Optional(booleanField()),
    }),
  ),
}

const scheduleFields = {
  cron: Type.Optional(longText()),
  every: Type.Optional(longText()),
  at: Type.Optional(longText()),
  zone: Type.Optional(longText()),
  dst: Type.Optional(
    fields({
      gap: Type.Optional(oneOf(['run-after', 'skip'])),
      repeat: Type.Optional(oneOf(['first', 'both', 'last'])),
    }),
  ),
  start: Type.Optional(time()),
  end: Type.Optional(time()),
  jitter: Type.Optional(duration()),
  overlap: Type.Optional(
    Type.String({ description: 'one of skip, queue, queue(n), replace, allow' }),
  ),
  missed: Type.Optional(Missed),
  input: Type.Optional(Type.Unknown()),
  priority: Type.Optional(wholeNumber(-LIMITS.priority, LIMITS.priority)),
  ...expectationFields,
}

export const ScheduleSchema = fields(scheduleFields)

/** A schedule within the definition of its job. */
export const DeclaredScheduleSchema = fields({ name: Type.Optional(name()), ...scheduleFields })

export const SchedulesSchema = Type.Unsafe<DeclaredSchedule | DeclaredSchedule[]>({
  anyOf: [DeclaredScheduleSchema, arrayOf(DeclaredScheduleSchema as TSchema, LIMITS.schedules)],
  description: `a schedule, or a list of at most ${LIMITS.schedules}`,
})

export const SchedulePauseSchema = fields({
  until: Type.Optional(time()),
  reason: Type.Optional(boundedText(LIMITS.reasonLength)),
})

export const PreviewSchema = fields({
  ...scheduleFields,
  count: Type.Optional(wholeNumber(1, LIMITS.previewTimes)),
})
