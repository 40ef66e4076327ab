import type { FastifyRequest } from 'fastify'
import { PunctualError } from '../../../core/errors.ts'
import { projectOf } from '../http/access.ts'
import type { PlainJobs } from '../../compat/compat-jobs.ts'

/** Headers have no letters beyond; what looks like one means something else to everybody. */
export const USER_ID = /^[\x21-\x7e]([\x20-\x7e]{0,126}[\x21-\x7e])?$/

/**
 * Who says to ask. Under `--open` that is all there is to go by; with a token it is a label on what
 * the token may do anyway. `undefined` if nobody says.
 */
export function userOf({ headers }: FastifyRequest): string | undefined {
  const user = headers['x-user-id']
  if (user === undefined) return undefined
  if (typeof user === 'string' && USER_ID.test(user.trim())) return user.trim()
  const message = 'the header X-User-ID must be 1 to 128 visible characters of ASCII'
  throw new PunctualError('invalid_request', message, { field: 'X-User-ID' })
}

export function requireUser(request: FastifyRequest): string {
  const user = userOf(request)
  if (user !== undefined) return user
  const message = 'the header X-User-ID is missing'
  throw new PunctualError('invalid_request', message, { field: 'X-User-ID' })
}

/** Where jobs are looked for by user: in one project, or with null in all that the caller may see. */
export function projectsOf(request: FastifyRequest): string | null {
  const project = projectOf(request)
  const isChosen = request.headers['punctual-project'] !== undefined
  return request.caller.project === null && !isChosen ? null : project
}

/** The project a body names. Only an open server makes one that it has not heard of. */
export async function projectNamed(
  request: FastifyRequest,
  named: string,
  { isOpen, jobs }: { isOpen: boolean; jobs: Pick<PlainJobs, 'hasProject'> },
): Promise<string> {
  const allowed = projectsOf(request)
  if (allowed !== null && allowed !== named) {
    throw new PunctualError('forbidden', `this token or request is for the project ${allowed}`)
  }
  const isStranger = isOpen && request.headers.authorization === undefined
  if (isStranger || (await jobs.hasProject(named))) return named
  const message = `project_id: there is no project ${named}`
  throw new PunctualError('invalid_field', message, { field: 'project_id' })
}
