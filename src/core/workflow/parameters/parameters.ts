import type { Names } from '../../expression/check.ts'
import { type RunFact, RUN_FACTS } from '../../expression/expression.ts'
import type { ValueKind } from '../../expression/value-kinds.ts'
import { readTemplate } from '../../expression/read-template.ts'
import { PunctualError } from '../../errors.ts'
import { LIMITS } from '../../limits.ts'
import { VARIABLE_NAME } from '../../work/variable.ts'
import type { ParameterInput } from '../definition.ts'
import { refuseValue } from './parameter-value.ts'
import { collectProblem, type OnProblem } from '../problems.ts'
import type { Parameter } from '../workflow.ts'

/** The facts about a run that are known before it has an id. */
export const FACTS_BEFORE_CREATION: readonly RunFact[] = RUN_FACTS.filter(
  (fact) => fact !== 'id' && fact !== 'wave',
)

/** Names for expressions that may only use the run itself. */
export const RUN_FACTS_ONLY: Names = {
  input: new Map(),
  facts: FACTS_BEFORE_CREATION,
  hasItem: false,
  maySecrets: false,
  refuseStep: () => ({ message: 'no step has run yet where this is evaluated' }),
}

/** Reads the declared fields of an input. */
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
    ([name, input]) =>
      collectProblem(onProblem, () => readParameter(name, input, `${at}.${name}`)) ?? [],
  )
}

function readParameter(name: string, input: ParameterInput, field: string): Parameter {
  const { type, format, enum: among, description } = input
  if (!VARIABLE_NAME.test(name)) throw wrong(field, 'has a name that is not letters, digits and _')
  if (format !== undefined && type !== 'string') {
    throw wrong(`${field}.format`, `belongs to the type string, not ${type}`)
  }
  const declared = {
    name,
    type,
    ...(format === undefined ? {} : { format }),
    ...(among === undefined ? {} : { enum: among }),
    ...(description === undefined ? {} : { description }),
  }
  for (const [nth, value] of (among ?? []).entries()) {
    const why = refuseValue({ ...declared, enum: undefined }, value)
    if (why) throw wrong(`${field}.enum.${nth}`, why)
  }
  return {
    ...declared,
    default: readDefault(declared, input, field),
    isRequired: isRequired(input),
  }
}

function readDefault(
  declared: Omit<ParameterInput, 'default'>,
  { default: value }: ParameterInput,
  field: string,
): Parameter['default'] {
  if (value === undefined) return null
  const template = readTemplate(value, RUN_FACTS_ONLY, `${field}.default`)
  if (template.kind !== 'constant') return template
  const why = refuseValue(declared, template.value)
  if (why) throw wrong(`${field}.default`, why)
  return template
}

function isRequired({ required, default: value }: ParameterInput): boolean {
  return required ?? value === undefined
}

/** The types of the input's fields, for checking expressions. */
export function kindsOf(parameters: readonly Parameter[]): ReadonlyMap<string, ValueKind> {
  return new Map(
    parameters.map(
      ({ name, type, isRequired: isThere, default: otherwise }): [string, ValueKind] => {
        // An optional field may be null.
        if (!isThere && otherwise === null) return [name, 'any']
        return [name, type === 'integer' ? 'number' : type]
      },
    ),
  )
}

function wrong(field: string, what: string): PunctualError {
  return new PunctualError('invalid_field', `${field} ${what}`, { field })
}
