import type { Api, ApiOptions } from '../http/api.ts'

export function healthRoutes(api: Api, { health }: Pick<ApiOptions, 'health'>): void {
  const config = { permission: 'public' } as const

  api.route({
    method: 'GET',
    url: '/livez',
    config: { ...config, reference: { answers: { 200: 'Live', 503: 'Live' } } },
    schema: { summary: 'Say whether the process works' },
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
    schema: { summary: 'Say whether this node can take requests' },
    handler: async (request, reply) => {
      const { ok, reason = 'unknown' } = await health.ready().catch((error: unknown) => {
        request.log.error({ err: error }, 'the readiness check failed')
        return { ok: false, reason: 'the check itself failed' }
      })
      if (ok) return { ready: true }
      return reply.code(503).header('retry-after', 1).send({ ready: false, reason })
    },
  })
}
