import { type TSchema, Type } from 'typebox'
import { LIMITS } from '../limits.ts'
import { WANTED } from '../run/needs.ts'
import {
  type ConcurrencyInput,
  PARAMETER_FORMATS,
  PARAMETER_TYPES,
  type ParameterInput,
  type StepInput,
  type WorkflowInput,
  WHENS,
} from '../workflow/definition.ts'
import {
  duration,
  fields,
  flag,
  jobOrStep,
  list,
  longText,
  name,
  oneOf,
  text,
  wholeNumber,
} from './fields.ts'
import { executed, shared } from './submission-schema.ts'

export const Parameter = fields({
  type: oneOf(PARAMETER_TYPES),
  format: Type.Optional(oneOf(PARAMETER_FORMATS)),
  enum: Type.Optional(list(Type.Unknown(), LIMITS.parameters, 1)),
  default: Type.Optional(Type.Unknown()),
  required: Type.Optional(flag()),
  description: Type.Optional(text(LIMITS.descriptionLength)),
})

/** How many there may be is told by the reader, which counts them anyway. */
export const Parameters = Type.Unsafe<Record<string, ParameterInput>>({
  type: 'object',
  additionalProperties: Parameter,
  description: 'an object of parameters, each a name and what it must be',
})

/** What belongs together is told by the reader, in words. */
export const Trigger = fields({
  after: Type.Optional(jobOrStep()),
  on: Type.Optional(oneOf(WANTED)),
  input: Type.Optional(Type.Unknown()),
  webhook: Type.Optional(name()),
})

const gate = fields({
  key: Type.Optional(text(LIMITS.keyLength)),
  limit: wholeNumber(1, LIMITS.gateCapacity),
})

export const Concurrency = Type.Unsafe<ConcurrencyInput>({
  anyOf: [oneOf(['none']), gate, list(gate as TSchema, LIMITS.gatesPerRun)],
  description: `none, an object of limit and key, or a list of at most ${LIMITS.gatesPerRun}`,
})

const approve = fields({
  by: Type.Optional(list(name(), LIMITS.users, 1)),
  message: Type.Optional(text(LIMITS.descriptionLength)),
  timeout: Type.Optional(duration()),
  input: Type.Optional(Parameters),
})

const needs = Type.Unsafe<NonNullable<StepInput['needs']>>({
  anyOf: [longText(), list(longText() as TSchema, LIMITS.steps)],
  description: 'the name of a step, or a list of names',
})

const condition = Type.Unsafe<NonNullable<StepInput['if']>>({
  anyOf: [flag(), longText()],
  description: 'an expression, such as ${{ input.full }}',
})

const each = Type.Unsafe<NonNullable<StepInput['each']>>({
  anyOf: [list(Type.Unknown() as TSchema, LIMITS.steps), longText()],
  description: 'a list, or an expression that gives one',
})

const { concurrency: _, tags: __, ...ofRuns } = shared

export const Step = fields({
  name: Type.Optional(name()),
  description: Type.Optional(text(LIMITS.descriptionLength)),
  ...executed,
  job: Type.Optional(name()),
  approve: Type.Optional(approve),
  needs: Type.Optional(needs),
  when: Type.Optional(oneOf(WHENS)),
  if: Type.Optional(condition),
  each: Type.Optional(each),
  max_parallel: Type.Optional(wholeNumber(1, LIMITS.steps)),
  finally: Type.Optional(flag()),
  allow_failure: Type.Optional(flag()),
  with: Type.Optional(Type.Unknown()),
  ...ofRuns,
})

export const Steps = Type.Unsafe<NonNullable<WorkflowInput['steps']>>({
  // How many there may be is told by the reader, with a code of its own.
  anyOf: [
    { type: 'array', items: Step, description: 'a list of steps' },
    { type: 'object', additionalProperties: Step, description: 'an object of steps by name' },
  ],
  description: 'a list of steps, or an object of steps by name',
})
