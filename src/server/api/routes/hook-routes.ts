import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { PunctualError } from '../../../core/errors.ts'
import { LIMITS } from '../../../core/limits.ts'
import { fields, name } from '../../../core/schema/fields.ts'
import { createRateLimit } from '../../identity/rate-limit.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { SUBMITTING } from '../http/idempotency.ts'
import { checkInput } from '../http/input-check.ts'
import { NamePath } from '../http/request.ts'

/** Wrong signatures of an address, a second and at once. */
const WRONG_PER_SECOND = 5
const WRONG_BURST = 50

const HookParameters = fields({ project: Type.Optional(name()) })
/** What it says is for the jobs it runs to understand. */
export const HookCall = Type.Unknown({ description: 'any JSON' })

/** Calls from elsewhere. They bring no token: what they say is signed. */
export function hookRoutes(api: Api, { admin, clock }: Pick<ApiOptions, 'admin' | 'clock'>): void {
  const wrongRate = createRateLimit(WRONG_PER_SECOND, WRONG_BURST)

  const slowDown = (error: unknown, request: FastifyRequest, reply: FastifyReply): unknown => {
    if (!(error instanceof PunctualError) || error.code !== 'bad_signature') return error
    const waitS = wrongRate.take(request.ip, clock.mono())
    void reply.header('www-authenticate', 'Webhook-Signature')
    if (waitS === 0) return error
    void reply.header('retry-after', waitS)
    return new PunctualError('rate_limited', 'this address has sent too many wrong signatures')
  }

  api.route({
    method: 'POST',
    url: '/v1/hooks/:name',
    config: {
      permission: 'public',
      keepsBytes: true,
      reference: {
        answers: { 200: 'HookRuns' },
        takes: ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
        problems: [
          ...(['bad_signature', 'hook_not_found', 'rate_limited', 'store_unavailable'] as const),
          ...(['node_stopping', ...SUBMITTING.problems] as const),
        ],
      },
    },
    schema: {
      summary: 'Run the jobs that wait for a call',
      params: NamePath,
      querystring: HookParameters,
      body: HookCall,
    },
    bodyLimit: LIMITS.largeBodyBytes,
    handler: async (request, reply) => {
      const { project = 'default' } = request.query
      const by = { project, actor: null, request: request.id, address: request.ip }
      const call = {
        id: headerOf(request, 'webhook-id'),
        timestamp: headerOf(request, 'webhook-timestamp'),
        signature: headerOf(request, 'webhook-signature'),
        body: request.bytes ?? Buffer.alloc(0),
        input: request.body,
      }
      checkInput(call.input, 'the body')
      try {
        return { runs: await admin.hooks.receive(by, request.params.name, call) }
      } catch (error) {
        throw slowDown(error, request, reply)
      }
    },
  })
}

function headerOf({ headers }: FastifyRequest, header: string): string {
  const value = headers[header]
  return typeof value === 'string' ? value : ''
}
