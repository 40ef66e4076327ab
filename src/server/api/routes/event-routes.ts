import { Type } from 'typebox'
import type { Feed } from '../../events/feed.ts'
import type { NewsItem } from '../../events/event-buffer.ts'
import { projectOf } from '../http/access.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { type EventStream, startEvents } from '../http/event-stream.ts'
import { fields, name } from '../../../core/schema/fields.ts'
import { whenGone } from '../http/request.ts'

const Which = fields({
  job: Type.Optional(name()),
})

/** Live events: what a list shows of a run, whenever that changes. */
export function eventRoutes(api: Api, { admin, clock }: Pick<ApiOptions, 'admin' | 'clock'>): void {
  api.route({
    method: 'GET',
    url: '/v1/events',
    config: {
      permission: 'read',
      reference: { answers: { 200: 'text/event-stream' }, takes: ['Last-Event-ID'] },
    },
    schema: { summary: 'Follow what happens to runs, as events', querystring: Which },
    handler: async (request, reply) => {
      const project = projectOf(request)
      const { job } = request.query
      const gone = whenGone(reply)
      const position = request.headers['last-event-id']
      admin.feed.attend(gone)
      const isWanted = (item: NewsItem) =>
        item.event === 'reset' ||
        (item.told.project === project && (job === undefined || item.told.job === job))
      const events = startEvents(reply, clock)
      await follow(events, admin.feed, { position, isWanted, gone })
      events.close()
    },
  })
}

async function follow(
  events: EventStream,
  { news }: Feed,
  options: {
    readonly position: string | string[] | undefined
    isWanted(item: NewsItem): boolean
    readonly gone: AbortSignal
  },
): Promise<void> {
  const { isWanted, gone } = options
  let position = typeof options.position === 'string' ? options.position : undefined
  if (position === undefined) {
    ;({ position } = news)
    // Whoever reads a list after this misses nothing.
    await events.send({ event: 'hello', id: position, data: {} })
  }
  while (!gone.aborted && !events.isClosed) {
    const found = news.after(position)
    ;({ position } = found)
    for (const item of found.events) {
      if (isWanted(item)) await events.send(messageOf(item))
      if (gone.aborted) return
    }
    if (news.position === position) await news.next(gone)
  }
}

function messageOf(item: NewsItem) {
  return item.event === 'reset'
    ? { event: 'reset', id: item.position, data: { reason: item.why } }
    : { event: item.event, id: item.position, data: item.text }
}
