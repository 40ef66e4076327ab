import type { FastifySchemaValidationError } from 'fastify'
import { PunctualError } from '../../../../core/errors.ts'
import { nearestName } from '../../../../core/text/nearest.ts'

/** What the validator adds in verbose mode. */
interface Verbose {
  readonly parentSchema?: {
    readonly description?: string
    readonly properties?: Readonly<Record<string, unknown>>
  }
}

/** Describes the first error of a request in one sentence that names the field. */
export function validationError(
  errors: readonly FastifySchemaValidationError[],
  part: string,
): PunctualError {
  const error = mostUsefulError(errors) as FastifySchemaValidationError & Verbose
  const path = fieldPath(error.instancePath)
  const { params, parentSchema = {} } = error
  switch (error.keyword) {
    case 'additionalProperties':
      return unknownField(path, String(params.additionalProperty), parentSchema)
    case 'required': {
      const field = join(path, String(params.missingProperty))
      return new PunctualError('missing_field', `${field} is missing`, { field })
    }
    case 'propertyNames': {
      const name = shorten(String(params.propertyName))
      const message = `${path} has a name that is not allowed: ${name}`
      return new PunctualError('invalid_field', message, { field: path })
    }
    default: {
      const expected = parentSchema.description ?? 'as the API reference says'
      const message = `${path || `the ${part}`} must be ${expected}`
      return new PunctualError('invalid_field', message, path ? { field: path } : {})
    }
  }
}

/**
 * The last error is the outermost: a bad tag name comes after the reason why it is bad. Where a
 * value may be one of several kinds, the error about the kind it looks like helps more than the
 * list of kinds.
 */
function mostUsefulError(
  errors: readonly FastifySchemaValidationError[],
): FastifySchemaValidationError | undefined {
  const last = errors.at(-1)
  if (last?.keyword !== 'anyOf') return last
  const isOther = ({ keyword, instancePath }: FastifySchemaValidationError) =>
    keyword === 'type' && instancePath === last.instancePath
  return mostUsefulError(errors.slice(0, -1).filter((error) => !isOther(error))) ?? last
}

function unknownField(
  path: string,
  name: string,
  { properties = {} }: NonNullable<Verbose['parentSchema']>,
) {
  const field = join(path, shorten(name))
  const meant = nearestName(name, Object.keys(properties))
  const advice = meant === undefined ? '' : `; did you mean ${join(path, meant)}?`
  return new PunctualError('unknown_field', `${field} is not a field here${advice}`, { field })
}

/** Validators write `/runs/3/priority` for `runs.3.priority`. */
function fieldPath(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => shorten(part.replaceAll('~1', '/').replaceAll('~0', '~')))
    .join('.')
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

function shorten(name: string): string {
  return name.length > 64 ? `${name.slice(0, 64)}…` : name
}
