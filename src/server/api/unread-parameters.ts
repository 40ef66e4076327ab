import { PunctualError } from '../../core/errors.ts'
import type { Api } from './http/api.ts'

/**
 * Routes that read parameters refuse those they do not know. Routes that read none do so here: a
 * `?limit=5` that nobody looks at would be a wish granted in appearance only.
 */
export function refuseUnreadParameters(api: Api): void {
  api.addHook('preValidation', (request, _reply, next) => {
    const { schema, config } = request.routeOptions
    // Pages have parameters of their own, which the browser reads.
    if (schema?.querystring !== undefined || config.permission === 'public') return next()
    const [field] = Object.keys(request.query as object)
    if (field === undefined) return next()
    const shown = field.slice(0, 64)
    next(new PunctualError('unknown_field', `${shown} is not a parameter here`, { field: shown }))
  })
}
