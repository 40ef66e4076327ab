import { type TSchema, Type } from 'typebox'
import { LIMITS } from '../limits.ts'
import { WANTED_OUTCOMES } from '../run/needs.ts'
import {
  type ConcurrencyInput,
  PARAMETER_FORMATS,
  PARAMETER_TYPES,
  type ParameterInput,
  type StepInput,
  type WorkflowInput,
  STEP_RULES,
} from '../workflow/definition.ts'
import {
  duration,
  fields,
  booleanField,
  jobOrStep,
  arrayOf,
  longText,
  name,
  oneOf,
  boundedText,
  wholeNumber,
} from './fields.ts'
import { executionFields, sharedFields } from './submission-schema.ts'

export const ParameterSchema = fields({
  type: oneOf(PARAMETER_TYPES),
  format: Type.Optional(oneOf(PARAMETER_FORMATS)),
  enum: Type.Optional(arrayOf(Type.Unknown(), LIMITS.parameters, 1)),
  default: Type.Optional(Type.Unknown()),
  required: Type.Optional(booleanField()),
  description: Type.Optional(boundedText(LIMITS.descriptionLength)),
})

/** The reader checks the number of parameters. */
export const ParametersSchema = Type.Unsafe<Record<string, ParameterInput>>({
  type: 'object',
  additionalProperties: ParameterSchema,
  description: 'an object of parameters, each a name and what it must be',
})

/** The reader checks the combination of fields. */
export const TriggerSchema = fields({
  after: Type.Optional(jobOrStep()),
  on: Type.Optional(oneOf(WANTED_OUTCOMES)),
  input: Type.Optional(Type.Unknown()),
  webhook: Type.Optional(name()),
})

const gate = fields({
  key: Type.Optional(boundedText(LIMITS.keyLength)),
  limit: wholeNumber(1, LIMITS.gateCapacity),
})

export const ConcurrencySchema = Type.Unsafe<ConcurrencyInput>({
  anyOf: [oneOf(['none']), gate, arrayOf(gate as TSchema, LIMITS.gatesPerRun)],
  description: `none, an object of limit and key, or a list of at most ${LIMITS.gatesPerRun}`,
})

const approve = fields({
  by: Type.Optional(arrayOf(name(), LIMITS.users, 1)),
  message: Type.Optional(boundedText(LIMITS.descriptionLength)),
  timeout: Type.Optional(duration()),
  input: Type.Optional(ParametersSchema),
})

const needs = Type.Unsafe<NonNullable<StepInput['needs']>>({
  anyOf: [longText(), arrayOf(longText() as TSchema, LIMITS.steps)],
  description: 'the name of a step, or a list of names',
})

const condition = Type.Unsafe<NonNullable<StepInput['if']>>({
  anyOf: [booleanField(), longText()],
  description: 'an expression, such as ${{ input.full }}',
})

const each = Type.Unsafe<NonNullable<StepInput['each']>>({
  anyOf: [arrayOf(Type.Unknown() as TSchema, LIMITS.steps), longText()],
  description: 'a list, or an expression that gives one',
})

const { concurrency: _, tags: __, ...ofRuns } = sharedFields

export const StepSchema = fields({
  name: Type.Optional(name()),
  description: Type.Optional(boundedText(LIMITS.descriptionLength)),
  ...executionFields,
  job: Type.Optional(name()),
  approve: Type.Optional(approve),
  needs: Type.Optional(needs),
  when: Type.Optional(oneOf(STEP_RULES)),
  if: Type.Optional(condition),
  each: Type.Optional(each),
  max_parallel: Type.Optional(wholeNumber(1, LIMITS.steps)),
  finally: Type.Optional(booleanField()),
  allow_failure: Type.Optional(booleanField()),
  with: Type.Optional(Type.Unknown()),
  ...ofRuns,
})

export const StepsSchema = Type.Unsafe<NonNullable<WorkflowInput['steps']>>({
  // The reader checks the number of steps and has an error code of its own for it.
  anyOf: [
    { type: 'array', items: StepSchema, description: 'a list of steps' },
    { type: 'object', additionalProperties: StepSchema, description: 'an object of steps by name' },
  ],
  description: 'a list of steps, or an object of steps by name',
})
