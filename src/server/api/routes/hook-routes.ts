import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { PunctualError } from '../../../core/errors.ts'
import { LIMITS } from '../../../core/limits.ts'
import { fields, name } from '../../../core/schema/fields.ts'
import { HOOK_ACTOR } from '../../identity/actors.ts'
import { createRateLimit } from '../../identity/rate-limit.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { SUBMIT_DOCS } from '../http/idempotency.ts'
import { checkInput } from '../http/validation/input-check.ts'
import { NamePathSchema } from '../http/request.ts'

/** Calls with wrong signatures per address: rate per second, and burst. */
const WRONG_PER_SECOND = 5
const WRONG_BURST = 50

const HookParameters = fields({ project: Type.Optional(name()) })
/** The triggered jobs interpret the content. */
export const HookCallSchema = Type.Unknown({ description: 'any JSON' })

/** Incoming webhook calls. They have a signature instead of a token. */
export function hookRoutes(api: Api, { admin, clock }: Pick<ApiOptions, 'admin' | 'clock'>): void {
  const wrongRate = createRateLimit(WRONG_PER_SECOND, WRONG_BURST)

  const refuseTooMany = (error: unknown, request: FastifyRequest, reply: FastifyReply): unknown => {
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
          'bad_signature',
          'hook_not_found',
          'rate_limited',
          'store_unavailable',
          'node_stopping',
          ...SUBMIT_DOCS.problems,
        ],
      },
    },
    schema: {
      summary: 'Call a hook: run the jobs it triggers',
      params: NamePathSchema,
      querystring: HookParameters,
      body: HookCallSchema,
    },
    bodyLimit: LIMITS.largeBodyBytes,
    handler: async (request, reply) => {
      const { project = 'default' } = request.query
      const by = { project, actor: HOOK_ACTOR, request: request.id, address: request.ip }
      const call = {
        id: headerOf(request, 'webhook-id'),
        timestamp: headerOf(request, 'webhook-timestamp'),
        signature: headerOf(request, 'webhook-signature'),
        body: request.bytes ?? Buffer.alloc(0),
        input: request.body,
      }
      await checkInput(call.input, 'the body', clock)
      try {
        return { runs: await admin.hooks.receive(by, request.params.name, call) }
      } catch (error) {
        throw refuseTooMany(error, request, reply)
      }
    },
  })
}

function headerOf({ headers }: FastifyRequest, header: string): string {
  const value = headers[header]
  return typeof value === 'string' ? value : ''
}
