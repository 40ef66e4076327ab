import type { FastifySchema } from 'fastify'
import type { Permission } from '../../../core/permission.ts'
import type { Api } from './api.ts'
import type { RouteDocs } from './route-docs.ts'

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
  /** Absent for web pages. */
  readonly docs?: RouteDocs
}

/** Collects every route that is registered after this call, in order. */
export function collectRoutes(api: Api): readonly Route[] {
  const routes: Route[] = []
  api.addHook('onRoute', ({ method, url, config, schema }) => {
    for (const one of [method].flat()) {
      // Fastify answers HEAD wherever it answers GET; no route declares that.
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
        ...(config?.reference ? { docs: docsOf(config.reference, config.list === true) } : {}),
      })
    }
  })
  return routes
}

/** Lists may be refused while too many are waiting. */
function docsOf(docs: RouteDocs, isList: boolean): RouteDocs {
  return isList ? { ...docs, problems: [...(docs.problems ?? []), 'overloaded'] } : docs
}

/** `:id` is a parameter; `::` is an escaped colon. */
function readable(url: string): string {
  return url
    .split('/')
    .map((part) => (/^:[^:]/.test(part) ? `{${part.slice(1)}}` : part.replaceAll('::', ':')))
    .join('/')
}
