import type { RunScope } from '../../expression/evaluate.ts'
import type { Json } from '../../expression/expression.ts'
import { fill } from '../../expression/fill-template.ts'
import { PunctualError } from '../../errors.ts'
import { nearestName } from '../../text/nearest.ts'
import { refuseValue } from './parameter-value.ts'
import type { Parameter } from '../workflow.ts'

/**
 * The input of a run with defaults filled in. Throws if a field is missing, unknown or of the wrong type. A job
 * without declared parameters accepts anything.
 */
export function acceptInput(
  parameters: readonly Parameter[],
  given: Json | undefined,
  run: RunScope,
  at = 'input',
): Json {
  if (parameters.length === 0) return given ?? null
  if (typeof given !== 'object' && given !== undefined) throw wrong(at, 'must be an object')
  if (Array.isArray(given)) throw wrong(at, 'must be an object')
  const values = (given ?? {}) as Readonly<Record<string, Json>>
  refuseUnknown(parameters, values, at)
  const entries = parameters.flatMap((parameter): [string, Json][] => {
    const value = valueFor(parameter, values, run, at)
    return value === undefined ? [] : [[parameter.name, value]]
  })
  return Object.fromEntries(entries)
}

function valueFor(
  parameter: Parameter,
  values: Readonly<Record<string, Json>>,
  run: RunScope,
  at: string,
): Json | undefined {
  const { name, isRequired, default: otherwise } = parameter
  const field = `${at}.${name}`
  if (!Object.hasOwn(values, name) && otherwise === null) {
    if (!isRequired) return undefined
    throw new PunctualError('missing_field', `${field} is missing`, { field })
  }
  const scope = { input: null, run, step: () => ({ state: '', output: null }) }
  const value = Object.hasOwn(values, name)
    ? (values[name] as Json)
    : fill(otherwise as NonNullable<typeof otherwise>, scope)
  const why = refuseValue(parameter, value)
  if (why) throw wrong(field, why)
  return value
}

function refuseUnknown(
  parameters: readonly Parameter[],
  values: Readonly<Record<string, Json>>,
  at: string,
): void {
  const known = parameters.map(({ name }) => name)
  const unknown = Object.keys(values).find((name) => !known.includes(name))
  if (unknown === undefined) return
  const suggestion = nearestName(unknown, known)
  const advice = suggestion === undefined ? '' : `; did you mean ${at}.${suggestion}?`
  const field = `${at}.${unknown.slice(0, 64)}`
  const message = `${field} is not an input of the job${advice}`
  throw new PunctualError('unknown_field', message, { field })
}

function wrong(field: string, what: string): PunctualError {
  return new PunctualError('invalid_field', `${field} ${what}`, { field })
}
