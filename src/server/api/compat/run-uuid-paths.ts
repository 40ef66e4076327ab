import type { preHandlerHookHandler } from 'fastify'
import { PunctualError } from '../../../core/errors.ts'
import { publicId } from '../../../core/ids.ts'
import type { Api, ApiOptions } from '../http/api.ts'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const PATHS_OF_A_RUN = '/v1/runs/:id'

/**
 * Accepts the UUID that `GET /job` shows as `run_id` on every path of a run. Handlers see only the
 * id of the run.
 */
export function acceptRunUuids(api: Api, { compat }: Pick<ApiOptions, 'compat'>): void {
  const readUuid: preHandlerHookHandler = (request, _reply, next) => {
    const params = request.params as { id: string }
    const uuid = params.id
    if (!UUID.test(uuid)) return next()
    const id = compat.runUuids.read(uuid)
    if (id === undefined) {
      return next(new PunctualError('run_not_found', `there is no run ${uuid}`))
    }
    params.id = publicId('run', id)
    next()
  }
  api.addHook('onRoute', (route) => {
    if (route.url.startsWith(PATHS_OF_A_RUN)) route.preHandler = readUuid
  })
}
