import type { Api } from './api.ts'
import { openApiOf } from './openapi.ts'
import type { Route } from './route-table.ts'

export function referenceRoutes(api: Api, routes: readonly Route[], version: string): void {
  api.route({
    method: 'GET',
    url: '/openapi.json',
    config: { permission: 'public' },
    schema: { summary: 'This reference, for programs' },
    handler: () => openApiOf(routes, version),
  })
}
