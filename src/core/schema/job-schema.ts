import { Type } from 'typebox'
import { LIMITS } from '../limits.ts'
import { fields, arrayOf, boundedText } from './fields.ts'
import { expectationFields, SchedulesSchema } from './schedule-schema.ts'
import { executionFields, sharedFields } from './submission-schema.ts'
import {
  ConcurrencySchema,
  ParametersSchema,
  StepsSchema,
  TriggerSchema,
} from './workflow-schema.ts'

/** The definition of a job: the body of its API request, and the expanded form of a job file. */
export const JobDefinitionSchema = fields({
  title: Type.Optional(boundedText(LIMITS.nameLength)),
  description: Type.Optional(boundedText(LIMITS.descriptionLength)),
  owner: Type.Optional(boundedText(LIMITS.nameLength)),
  source: Type.Optional(boundedText(LIMITS.tagLength)),
  schedule: Type.Optional(SchedulesSchema),
  ...expectationFields,
  triggers: Type.Optional(arrayOf(TriggerSchema, LIMITS.triggers)),
  input: Type.Optional(ParametersSchema),
  ...sharedFields,
  concurrency: Type.Optional(ConcurrencySchema),
  ...executionFields,
  steps: Type.Optional(StepsSchema),
  output: Type.Optional(Type.Unknown()),
})
