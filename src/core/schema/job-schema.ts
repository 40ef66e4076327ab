import { Type } from 'typebox'
import { LIMITS } from '../limits.ts'
import { fields, list, text } from './fields.ts'
import { expectations, Schedules } from './schedule-schema.ts'
import { executed, shared } from './submission-schema.ts'
import { Concurrency, Parameters, Steps, Trigger } from './workflow-schema.ts'

/** What a job is: the body of its definition, and what files with jobs come down to. */
export const JobDefinition = fields({
  title: Type.Optional(text(LIMITS.nameLength)),
  description: Type.Optional(text(LIMITS.descriptionLength)),
  owner: Type.Optional(text(LIMITS.nameLength)),
  source: Type.Optional(text(LIMITS.tagLength)),
  schedule: Type.Optional(Schedules),
  ...expectations,
  triggers: Type.Optional(list(Trigger, LIMITS.triggers)),
  input: Type.Optional(Parameters),
  ...shared,
  concurrency: Type.Optional(Concurrency),
  ...executed,
  steps: Type.Optional(Steps),
  output: Type.Optional(Type.Unknown()),
})
