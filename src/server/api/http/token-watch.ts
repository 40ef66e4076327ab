import type { FastifyReply, FastifyRequest } from 'fastify'
import { PunctualError } from '../../../core/errors.ts'
import { identifyRequest } from './access.ts'
import type { ApiOptions } from './api.ts'

/**
 * How often the token of a long request is checked again. This and the time for which a node caches tokens add up
 * to less than the promised five seconds.
 */
const CHECK_MS = 1_500

/** The reason of signals that a token has aborted. */
export const TOKEN_REFUSED = 'token refused'

export interface TokenWatch {
  /** Aborts when the token of the request is revoked or has expired. */
  whenRefused(request: FastifyRequest, reply: FastifyReply): AbortSignal
  /** Checks the token again before a request that has waited is answered. */
  requireValid(request: FastifyRequest): Promise<void>
}

interface Watched {
  readonly refused: AbortController
  /** Requests under way. */
  requests: number
}

/** A request's token is checked when the request begins; waits and streams check it again while they last. */
export function createTokenWatch(
  { identify, isOpen = false, clock }: Pick<ApiOptions, 'identify' | 'isOpen' | 'clock'>,
  closing: AbortSignal,
): TokenWatch {
  /** By `Authorization`: hundreds of streams of one token ask once. */
  const tokens = new Map<string, Watched>()

  const isValid = async (request: FastifyRequest): Promise<boolean> =>
    (await identifyRequest(request, identify, isOpen)) !== null

  const watch = async (name: string, watched: Watched, request: FastifyRequest) => {
    while (watched.requests > 0 && !watched.refused.signal.aborted) {
      await clock.sleep(CHECK_MS, closing)
      if (closing.aborted) break
      // While the store is unavailable the token cannot be checked, and streams continue.
      if (!(await isValid(request).catch(() => true))) watched.refused.abort(TOKEN_REFUSED)
    }
    tokens.delete(name)
  }

  return {
    whenRefused(request, reply) {
      const name = request.headers.authorization ?? ''
      const known = tokens.get(name)
      const watched = known ?? { refused: new AbortController(), requests: 0 }
      watched.requests += 1
      reply.raw.once('close', () => (watched.requests -= 1))
      if (!known) {
        tokens.set(name, watched)
        void watch(name, watched, request)
      }
      return watched.refused.signal
    },

    async requireValid(request) {
      if (await isValid(request)) return
      throw new PunctualError('unauthorized', 'the token is not valid any more')
    },
  }
}
