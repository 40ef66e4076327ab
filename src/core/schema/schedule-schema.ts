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
  flag,
  list,
  longText,
  name,
  oneOf,
  text,
  time,
  wholeNumber,
} from './fields.ts'

/** What times they stand for is read by the rules of time, which have the better words for it. */
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

/** Of all schedules of a job, or of one. */
export const expectations = {
  deadline: Type.Optional(
    Type.String({ description: 'a duration, such as 30m, or a time of the day, such as 05:30' }),
  ),
  expect: Type.Optional(
    fields({
      start: Type.Optional(duration()),
      duration: Type.Optional(
        Type.String({ description: 'a duration, such as 20m, or how many times the usual, as 2x' }),
      ),
      output: Type.Optional(flag()),
    }),
  ),
}

const rule = {
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
  ...expectations,
}

export const Schedule = fields(rule)

/** Within the definition of its job. */
export const Declared = fields({ name: Type.Optional(name()), ...rule })

export const Schedules = Type.Unsafe<DeclaredSchedule | DeclaredSchedule[]>({
  anyOf: [Declared, list(Declared as TSchema, LIMITS.schedules)],
  description: `a schedule, or a list of at most ${LIMITS.schedules}`,
})

export const SchedulePause = fields({
  until: Type.Optional(time()),
  reason: Type.Optional(text(LIMITS.reasonLength)),
})

export const Preview = fields({
  ...rule,
  count: Type.Optional(wholeNumber(1, LIMITS.previewTimes)),
})
