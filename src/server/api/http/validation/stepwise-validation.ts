import type { FastifySchemaCompiler, FastifySchemaValidationError } from 'fastify'
import type { Clock } from '../../../../core/clock.ts'
import type { Pausing } from '../../../../core/pausing.ts'
import { LIMITS } from '../../../../core/limits.ts'
import { runInSlices } from '../../../loops/run-in-slices.ts'
import type { Api } from '../api.ts'

/** Number of steps or runs that are validated together. */
const BATCH_ITEMS = 200

/** Ajv stores the errors on the function itself. */
type Validate = {
  (value: unknown): boolean | PromiseLike<boolean>
  errors?: FastifySchemaValidationError[] | null
}
type Compile = (route: unknown) => Validate

/** Validates a body with up to a hundred thousand steps or ten thousand runs in slices. */
export function validateStepwise(
  api: Api,
  clock: Pick<Clock, 'mono'>,
): FastifySchemaCompiler<unknown> {
  const compile: Compile = (route) => {
    let compiled: Validate | undefined
    const judge: Validate = (value) => {
      // The framework has its compiler only with the first request.
      compiled ??= (api.validatorCompiler as Compile)(route)
      const whole = compiled
      if (isSmall(value)) {
        const isValid = whole(value)
        judge.errors = whole.errors ?? null
        return isValid
      }
      return runInSlices(judging(whole, value), clock).then((errors) => {
        judge.errors = errors
        return errors === null
      })
    }
    return judge
  }
  return compile as FastifySchemaCompiler<unknown>
}

/** A small body is validated in one go, without delaying the request. */
function isSmall(body: unknown): boolean {
  const { steps, runs } = Object(body) as { steps?: unknown; runs?: unknown }
  const items = runs ?? steps
  return Array.isArray(items) ? items.length <= BATCH_ITEMS : items === undefined
}

type Errors = FastifySchemaValidationError[]

function* judging(validate: Validate, body: unknown): Pausing<Errors | null> {
  for (const { piece, from } of piecesOf(body)) {
    if (!validate(piece)) return (validate.errors ?? []).map((error) => withOffset(error, from))
    yield
  }
  return null
}

/** The error with its position in the whole body: list items count from the beginning. */
function withOffset(
  error: FastifySchemaValidationError,
  from: number,
): FastifySchemaValidationError {
  if (from === 0) return error
  const instancePath = error.instancePath.replace(
    /^\/(runs|steps)\/(\d+)/,
    (_whole, list: string, index: string) => `/${list}/${Number(index) + from}`,
  )
  return { ...error, instancePath }
}

/** Parts of the body, each with some of its steps or runs, and the number of preceding items. */
function* piecesOf(body: unknown): Generator<{ piece: unknown; from: number }> {
  const { steps, runs } = Object(body) as { steps?: unknown; runs?: unknown }
  // The number of runs is checked on the whole body.
  if (Array.isArray(runs) && runs.length > LIMITS.batchRuns) return yield { piece: body, from: 0 }
  if (Array.isArray(runs)) return yield* piecesOfList(body as object, 'runs', runs)
  if (Array.isArray(steps)) return yield* piecesOfList(body as object, 'steps', steps)
  if (typeof steps !== 'object' || steps === null) return yield { piece: body, from: 0 }
  const named = steps as Readonly<Record<string, unknown>>
  const names = Object.keys(named)
  for (let from = 0; from === 0 || from < names.length; from += BATCH_ITEMS) {
    // Without a prototype the object is a dictionary from the start: otherwise each name would
    // create another hidden class, and these are kept.
    const some = Object.create(null) as Record<string, unknown>
    for (const name of names.slice(from, from + BATCH_ITEMS)) some[name] = named[name]
    yield { piece: { ...(body as object), steps: some }, from: 0 }
  }
}

function* piecesOfList(body: object, name: 'runs' | 'steps', items: readonly unknown[]) {
  for (let from = 0; from === 0 || from < items.length; from += BATCH_ITEMS) {
    yield { piece: { ...body, [name]: items.slice(from, from + BATCH_ITEMS) }, from }
  }
}
