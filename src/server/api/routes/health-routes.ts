import type { Readiness } from '../../health/readiness.ts'
import type { Api, ApiOptions } from '../http/api.ts'

export function healthRoutes(api: Api, { health }: Pick<ApiOptions, 'health'>): void {
  const config = { permission: 'public' } as const

  api.route({
    method: 'GET',
    url: '/livez',
    config: { ...config, reference: { answers: { 200: 'Live', 503: 'Live' } } },
    schema: { summary: 'Liveness of the process' },
    handler: (_request, reply) => {
      const live = health.live()
      return reply.code(live ? 200 : 503).send({ live })
    },
  })

  api.route({
    method: 'GET',
    url: '/readyz',
    config: {
      ...config,
      reference: { answers: { 200: 'Ready', 503: 'Ready' }, gives: { 503: ['Retry-After'] } },
    },
    schema: { summary: 'Readiness of this node' },
    handler: async (request, reply) => {
      const readiness = await health.ready().catch((error: unknown): Readiness => {
        const fields = { request_id: request.id }
        request.log.error({ err: error, fields }, 'the readiness check failed')
        return { ok: false, reason: 'the check itself failed' }
      })
      const { ok, reason = 'unknown', clock } = readiness
      if (ok) return { ready: true, ...(clock && { clock }) }
      return reply.code(503).header('retry-after', 1).send({ ready: false, reason })
    },
  })
}
