import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import type { Api, ApiOptions } from './api.ts'
import { createListSlots, DEFAULT_LISTS, type ListSlots } from './list-slots.ts'
import { disconnectSignal } from './request.ts'

/**
 * Routes that read data growing with history declare `list`. Their handlers run in the slots for
 * lists; all other requests, workers first, never wait for one.
 */
export function limitLists(
  api: Api,
  options: Pick<ApiOptions, 'clock' | 'lists' | 'metrics'>,
): void {
  const slots = createListSlots({ ...DEFAULT_LISTS, ...options.lists }, options.clock)
  options.metrics?.setListFigures(slots.figures)
  const limited = new WeakSet<RouteHandlerMethod>()

  api.addHook('onRoute', (route) => {
    const handle = route.handler as RouteHandlerMethod
    // Fastify derives HEAD from GET, with the handler of GET.
    if (route.config?.list !== true || limited.has(handle)) return
    const handler: RouteHandlerMethod = async function (request, reply) {
      const release = await take(slots, request, reply)
      try {
        // It may have waited for a slot longer than its token was valid.
        await api.tokenWatch.requireValid(request)
        return await handle.call(this, request, reply)
      } finally {
        // Released only now: a disconnecting caller does not end its query in the store.
        release()
      }
    }
    limited.add(handler)
    route.handler = handler
  })
}

function take(slots: ListSlots, request: FastifyRequest, reply: FastifyReply) {
  return slots.take(request.caller.tokenId ?? 'root', disconnectSignal(reply))
}
