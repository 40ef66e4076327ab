import type { FastifySchema } from 'fastify'
import type { Permission } from '../../../core/permission.ts'
import type { Api } from './api.ts'
import type { Told } from './route-docs.ts'

/** A route as the reference and the tests see it. */
export interface Route {
  readonly method: string
  /** `/v1/runs/{id}/cancel` */
  readonly path: string
  readonly permission: Permission | 'public'
  /** Only for tokens of the installation. */
  readonly everywhere: boolean
  readonly schema: FastifySchema
  readonly bodyIsOptional: boolean
  /** Absent for pages. */
  readonly told?: Told
}

/** Every route that is registered from here on, in order. */
export function collectRoutes(api: Api): readonly Route[] {
  const routes: Route[] = []
  api.addHook('onRoute', ({ method, url, config, schema }) => {
    for (const one of [method].flat()) {
      // Fastify answers HEAD wherever it answers GET; nobody declared that.
      if (one === 'HEAD') continue
      const permission = config?.permission ?? 'administer'
      const everywhere = config?.everywhere ?? false
      const bodyIsOptional = config?.bodyIsOptional ?? false
      routes.push({
        method: one,
        path: readable(url),
        permission,
        everywhere,
        bodyIsOptional,
        schema: schema ?? {},
        ...(config?.reference ? { told: config.reference } : {}),
      })
    }
  })
  return routes
}

/** `:id` is a part to fill in; `::` is how a route spells a plain colon. */
function readable(url: string): string {
  return url
    .split('/')
    .map((part) => (/^:[^:]/.test(part) ? `{${part.slice(1)}}` : part.replaceAll('::', ':')))
    .join('/')
}
