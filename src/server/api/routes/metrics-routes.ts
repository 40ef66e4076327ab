import type { Api, ApiOptions } from '../http/api.ts'

/** The page that Prometheus reads, and the count of requests on it. */
export function metricsRoutes(api: Api, { metrics }: Pick<ApiOptions, 'metrics'>): void {
  if (!metrics) return
  // Counting reads the store, so concurrent requests share one page.
  let underWay: ReturnType<typeof metrics.page> | undefined
  const page = () =>
    (underWay ??= metrics.page().finally(() => {
      underWay = undefined
    }))

  api.addHook('onResponse', (request, reply, done) => {
    // The route and not the path: ids would make a time series each.
    const { url = 'unknown' } = request.routeOptions
    metrics.onRequest(request.method, url, reply.statusCode)
    done()
  })

  api.route({
    method: 'GET',
    url: '/metrics',
    config: { permission: 'read', everywhere: true, reference: { answers: { 200: 'text/plain' } } },
    schema: { summary: 'Metrics for Prometheus' },
    handler: async (_request, reply) => {
      const { type, text } = await page()
      return reply.header('content-type', type).send(text)
    },
  })
}
