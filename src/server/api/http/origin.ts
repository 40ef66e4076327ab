import type { FastifyRequest } from 'fastify'
import { type Principal, principalOf } from '../../identity/principal.ts'
import type { Caller } from '../../identity/caller.ts'
import type { RequestOrigin } from '../../workers/session-registry.ts'
import { identifyRequest, projectOf } from './access.ts'
import type { ApiOptions } from './api.ts'

/** The origin of a worker request, with a way to check again whether its token is valid. */
export function requestOriginOf(
  request: FastifyRequest,
  { identify, isOpen = false }: Pick<ApiOptions, 'identify' | 'isOpen'>,
  principal: (caller: Caller) => Principal = principalOf,
): RequestOrigin {
  return {
    project: projectOf(request),
    principal: principal(request.caller),
    isStillValid() {
      const caller = identifyRequest(request, identify, isOpen)
      return caller instanceof Promise ? caller.then((found) => found !== null) : caller !== null
    },
  }
}
