import type { FastifyRequest } from 'fastify'
import { PunctualError } from '../../../core/errors.ts'
import { projectOf } from '../http/access.ts'
import type { CompatJobs } from '../../compat/compat-jobs.ts'
import { USER_ID } from '../../compat/wire.ts'

/**
 * The user that the caller names. Under `--open` nothing else is known; with a token it is only a
 * label. `undefined` if the caller names none.
 */
export function userOf({ headers }: FastifyRequest): string | undefined {
  const user = headers['x-user-id']
  if (user === undefined) return undefined
  if (typeof user === 'string' && USER_ID.test(user.trim())) return user.trim()
  const message = 'the header X-User-ID must be 1 to 128 visible characters of ASCII'
  throw new PunctualError('invalid_request', message, { field: 'X-User-ID' })
}

/** Users without a name, where the server requires no token either. */
const ANONYMOUS = 'anonymous'

export function userOrAnonymous(request: FastifyRequest, server: { isOpen: boolean }): string {
  const user = userOf(request)
  if (user !== undefined) return user
  if (needsNoToken(request, server)) return ANONYMOUS
  const message = 'the header X-User-ID is missing'
  throw new PunctualError('invalid_request', message, { field: 'X-User-ID' })
}

/**
 * Where jobs of a user are searched: in one project, or with null in all that the caller may see.
 */
export function projectsOf(request: FastifyRequest): string | null {
  const project = projectOf(request)
  const isChosen = request.headers['punctual-project'] !== undefined
  return request.caller.project === null && !isChosen ? null : project
}

/** The project named in a body. Only an open server creates an unknown one. */
export async function projectNamed(
  request: FastifyRequest,
  named: string,
  { isOpen, jobs }: { isOpen: boolean; jobs: Pick<CompatJobs, 'hasProject'> },
): Promise<string> {
  const allowed = projectsOf(request)
  if (allowed !== null && allowed !== named) {
    throw new PunctualError('forbidden', `this token or request is for the project ${allowed}`)
  }
  if (needsNoToken(request, { isOpen }) || (await jobs.hasProject(named))) return named
  const message = `project_id: there is no project ${named}`
  throw new PunctualError('invalid_field', message, { field: 'project_id' })
}

/** The server is open, and the caller sends no token. */
function needsNoToken({ headers }: FastifyRequest, { isOpen }: { isOpen: boolean }): boolean {
  return isOpen && headers.authorization === undefined
}
