import type { FastifySchemaCompiler, FastifySchemaValidationError } from 'fastify'
import type { Clock } from '../../../core/clock.ts'
import type { Pausing } from '../../../core/pausing.ts'
import { inTurns } from '../../loops/run-in-slices.ts'
import type { Api } from './api.ts'

/** So many steps are judged together. */
const BITE = 200

/** Whoever calls it reads the errors off the function: that is Ajv's way. */
type Validate = {
  (value: unknown): boolean | PromiseLike<boolean>
  errors?: FastifySchemaValidationError[] | null
}
type Compile = (route: unknown) => Validate

/** For a body that may have a hundred thousand steps: they are judged a few at a time, in turns. */
export function judgeStepwise(
  api: Api,
  clock: Pick<Clock, 'mono'>,
): FastifySchemaCompiler<unknown> {
  const compile: Compile = (route) => {
    let compiled: Validate | undefined
    const judge: Validate = (value) => {
      // The framework has its compiler only when the first request comes.
      compiled ??= (api.validatorCompiler as Compile)(route)
      const whole = compiled
      return inTurns(judging(whole, value), clock).then((isValid) => {
        judge.errors = whole.errors ?? null
        return isValid
      })
    }
    return judge
  }
  return compile as FastifySchemaCompiler<unknown>
}

function* judging(validate: Validate, body: unknown): Pausing<boolean> {
  for (const piece of piecesOf(body)) {
    // Where it is wrong is known to who sees it in its place.
    if (!validate(piece)) return validate(body) === true
    yield
  }
  return true
}

/** Each is the body with some of its steps. */
function* piecesOf(body: unknown): Generator<unknown> {
  const { steps } = Object(body) as { steps?: unknown }
  if (typeof steps !== 'object' || steps === null) return yield body
  if (Array.isArray(steps)) {
    for (let from = 0; from === 0 || from < steps.length; from += BITE) {
      yield { ...(body as object), steps: steps.slice(from, from + BITE) }
    }
    return
  }
  const named = steps as Readonly<Record<string, unknown>>
  const names = Object.keys(named)
  for (let from = 0; from === 0 || from < names.length; from += BITE) {
    // Without a prototype it is a dictionary from the start: otherwise each name makes it another shape,
    // and shapes are kept.
    const some = Object.create(null) as Record<string, unknown>
    for (const name of names.slice(from, from + BITE)) some[name] = named[name]
    yield { ...(body as object), steps: some }
  }
}
