import type { Names } from '../expression/check.ts'
import { type RunFact, RUN_FACTS } from '../expression/expression.ts'
import type { Kind } from '../expression/value-kinds.ts'
import { readTemplate } from '../expression/read-template.ts'
import { PunctualError } from '../errors.ts'
import { LIMITS } from '../limits.ts'
import { VARIABLE } from '../work/variable.ts'
import type { ParameterInput } from './definition.ts'
import { refuseValue } from './parameter-value.ts'
import { attempt, type OnProblem } from './problems.ts'
import type { Parameter } from './workflow.ts'

/** What is known of a run before it has an id. */
export const EARLY_FACTS: readonly RunFact[] = RUN_FACTS.filter(
  (fact) => fact !== 'id' && fact !== 'wave',
)

/** Where nothing but the run itself can be named. */
export const ONLY_RUN: Names = {
  input: new Map(),
  facts: EARLY_FACTS,
  hasItem: false,
  maySecrets: false,
  refuseStep: () => ({ message: 'no step has run yet where this is evaluated' }),
}

/** The fields of an input, as they were written. */
export function readParameters(
  inputs: Readonly<Record<string, ParameterInput>> | undefined,
  at: string,
  onProblem: OnProblem,
): readonly Parameter[] {
  const entries = Object.entries(inputs ?? {})
  if (entries.length > LIMITS.parameters) {
    const message = `${at} has ${entries.length} fields; at most ${LIMITS.parameters} are allowed`
    onProblem(new PunctualError('invalid_field', message, { field: at }))
  }
  return entries.flatMap(
    ([name, input]) => attempt(onProblem, () => readParameter(name, input, `${at}.${name}`)) ?? [],
  )
}

function readParameter(name: string, input: ParameterInput, field: string): Parameter {
  const { type, format, enum: among, description } = input
  if (!VARIABLE.test(name)) throw wrong(field, 'has a name that is not letters, digits and _')
  if (format !== undefined && type !== 'string') {
    throw wrong(`${field}.format`, `belongs to the type string, not ${type}`)
  }
  const plain = {
    name,
    type,
    ...(format === undefined ? {} : { format }),
    ...(among === undefined ? {} : { enum: among }),
    ...(description === undefined ? {} : { description }),
  }
  for (const [nth, value] of (among ?? []).entries()) {
    const why = refuseValue({ ...plain, enum: undefined }, value)
    if (why) throw wrong(`${field}.enum.${nth}`, why)
  }
  return { ...plain, default: readDefault(plain, input, field), isRequired: isRequired(input) }
}

function readDefault(
  plain: Omit<ParameterInput, 'default'>,
  { default: value }: ParameterInput,
  field: string,
): Parameter['default'] {
  if (value === undefined) return null
  const template = readTemplate(value, ONLY_RUN, `${field}.default`)
  if (template.kind !== 'constant') return template
  const why = refuseValue(plain, template.value)
  if (why) throw wrong(`${field}.default`, why)
  return template
}

function isRequired({ required, default: value }: ParameterInput): boolean {
  return required ?? value === undefined
}

/** What expressions know of an input before it is there. */
export function kindsOf(parameters: readonly Parameter[]): ReadonlyMap<string, Kind> {
  return new Map(
    parameters.map(({ name, type, isRequired: isThere, default: otherwise }): [string, Kind] => {
      // What may be left out may be null.
      if (!isThere && otherwise === null) return [name, 'any']
      return [name, type === 'integer' ? 'number' : type]
    }),
  )
}

function wrong(field: string, what: string): PunctualError {
  return new PunctualError('invalid_field', `${field} ${what}`, { field })
}
