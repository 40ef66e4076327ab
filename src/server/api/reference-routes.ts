import type { Api } from './api.ts'
import type { Route } from './route-table.ts'

/** The API for programs. Made on the first request: most servers are never asked. */
export function referenceRoutes(api: Api, routes: readonly Route[], version: string): void {
  let made: Promise<string> | undefined

  api.route({
    method: 'GET',
    url: '/openapi.json',
    config: { permission: 'public', reference: { answers: { 200: 'OpenApi' } } },
    schema: { summary: 'This reference, for programs' },
    handler: async (_request, reply) => {
      made ??= write(routes, version)
      return reply.type('application/json; charset=utf-8').send(await made)
    },
  })
}

async function write(routes: readonly Route[], version: string): Promise<string> {
  const { openApiOf } = await import('./reference/openapi.ts')
  return JSON.stringify(openApiOf(routes, version))
}
