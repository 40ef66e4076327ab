import { PunctualError } from '../../../core/errors.ts'
import type { Api } from './api.ts'

/** Tells a path that does not exist from one that exists under other methods. */
export function answerUnknownRoutes(api: Api): void {
  const routes: { readonly path: RegExp; readonly methods: readonly string[] }[] = []
  api.addHook('onRoute', ({ url, method }) => {
    routes.push({ path: patternOf(url), methods: [method].flat() })
  })
  api.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] as string
    const allowed = routes
      .filter((route) => route.path.test(path))
      .flatMap(({ methods }) => methods)
    if (allowed.length === 0) throw new PunctualError('not_found', 'there is nothing at this path')
    const allow = allowed.join(', ')
    void reply.header('allow', allow)
    throw new PunctualError('method_not_allowed', `this path takes ${allow}, not ${request.method}`)
  })
}

/** `/v1/runs/:id` takes any one segment for `:id`; `::` is how a route spells a plain colon. */
function patternOf(url: string): RegExp {
  const pattern = url
    .split('/')
    .map((part) =>
      /^:[^:]/.test(part) ? '[^/]+' : part.replaceAll('::', ':').replaceAll('.', '\\.'),
    )
    .join('/')
  return new RegExp(`^${pattern}$`)
}
