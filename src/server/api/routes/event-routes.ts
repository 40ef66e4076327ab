import { Type } from 'typebox'
import type { Feed } from '../../events/feed.ts'
import type { StreamedRunEvent } from '../../events/event-buffer.ts'
import { projectOf } from '../http/access.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { type EventStream, startEvents } from '../http/event-stream.ts'
import { fields, name } from '../../../core/schema/fields.ts'
import { requestEndedSignal } from '../http/request.ts'

const EventParameters = fields({
  job: Type.Optional(name()),
})

/** Live events: the list view of a run, whenever it changes. */
export function eventRoutes(api: Api, { admin, clock }: Pick<ApiOptions, 'admin' | 'clock'>): void {
  api.route({
    method: 'GET',
    url: '/v1/events',
    config: {
      permission: 'read',
      reference: { answers: { 200: 'stream of runs' }, takes: ['Last-Event-ID'] },
    },
    schema: { summary: 'Stream run events', querystring: EventParameters },
    handler: async (request, reply) => {
      const project = projectOf(request)
      const { job } = request.query
      const disconnected = requestEndedSignal(request, reply)
      const position = request.headers['last-event-id']
      admin.feed.watch(disconnected)
      const isWanted = (item: StreamedRunEvent) =>
        item.event === 'reset' ||
        (item.change.project === project && (job === undefined || item.change.job === job))
      const events = startEvents(reply, clock)
      await follow(events, admin.feed, { position, isWanted, disconnected })
      events.close()
    },
  })
}

async function follow(
  events: EventStream,
  { buffer }: Feed,
  options: {
    readonly position: string | string[] | undefined
    isWanted(item: StreamedRunEvent): boolean
    readonly disconnected: AbortSignal
  },
): Promise<void> {
  const { isWanted, disconnected } = options
  let position = typeof options.position === 'string' ? options.position : undefined
  if (position === undefined) {
    ;({ position } = buffer)
    // A client that reads a list after this event misses nothing.
    await events.send({ event: 'hello', id: position, data: {} })
  }
  while (!disconnected.aborted && !events.isClosed) {
    const found = buffer.after(position)
    ;({ position } = found)
    for (const item of found.events) {
      if (isWanted(item)) await events.send(messageOf(item))
      if (disconnected.aborted) return
    }
    if (buffer.position === position) await buffer.next(disconnected)
  }
}

function messageOf(item: StreamedRunEvent) {
  return item.event === 'reset'
    ? { event: 'reset', id: item.position, data: { reason: item.why } }
    : { event: item.event, id: item.position, data: item.text }
}
