import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { LIMITS } from '../../../core/limits.ts'
import type { FollowedOutput, FollowedChunk } from '../../logs/live-log.ts'
import { STREAMS } from '../../logs/log-lines.ts'
import { projectOf } from '../http/access.ts'
import type { Administration } from '../../admin/administration.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { TOKEN_REFUSED } from '../http/token-watch.ts'
import { fields, oneOf, boundedText } from '../../../core/schema/fields.ts'
import { type EventStream, frameOf, startEvents } from '../http/event-stream.ts'
import {
  flagParameter,
  IdPathSchema,
  readCountParameter,
  readRunId,
  disconnectSignal,
  requestEndedSignal,
} from '../http/request.ts'

const count = (description: string) =>
  Type.Optional(Type.String({ pattern: '^[0-9]{1,12}$', description }))

const Part = fields({
  attempt: count('a whole number, 1 or more'),
  from_line: count('a whole number'),
  limit: count(`a whole number, 1 to ${LIMITS.logLines}`),
  tail: count(`a whole number, 1 to ${LIMITS.logLines}: the number of last lines`),
})
const AttemptParameters = fields({ attempt: count('a whole number, 1 or more') })

const SearchParameters = fields({
  q: boundedText(LIMITS.searchLength),
  mode: Type.Optional(oneOf(['literal', 'regex'])),
  case: Type.Optional(oneOf(['sensitive', 'ignore'])),
  attempt: count('a whole number, 1 or more'),
  from_line: count('a whole number'),
  limit: count(`a whole number, 1 to ${LIMITS.searchHits}`),
})
const FollowParameters = fields({
  attempt: count('a whole number, 1 or more'),
  skip: flagParameter,
})

/** Default number of lines that a search returns. */
const DEFAULT_HITS = 100
const MOST = 2 ** 31 - 1
/** Lines of one attempt: sixteen gigabytes may consist of newlines. */
const MAX_LINES = 2 ** 40

export function logRoutes(
  api: Api,
  options: Pick<ApiOptions, 'admin' | 'clientFor' | 'clock'>,
): void {
  readRoutes(api, options.admin)
  followRoute(api, options)
}

function readRoutes(api: Api, { runs }: Administration): void {
  const params = IdPathSchema

  api.route({
    method: 'GET',
    url: '/v1/runs/:id/logs',
    config: {
      list: true,
      permission: 'read',
      reference: { answers: { 200: 'Log' }, problems: ['run_not_found', 'log_not_found'] },
    },
    schema: { summary: 'Read the log of a run, line by line', params, querystring: Part },
    handler: async (request, reply) => {
      const { attempt, from_line, limit, tail } = request.query
      const log = await runs.log(projectOf(request), readRunId(request.params.id), {
        attempt: readCountParameter(attempt, 'attempt', MOST),
        from: readCountParameter(from_line, 'from_line', MAX_LINES, 0),
        limit: readCountParameter(limit, 'limit', LIMITS.logLines),
        tail: readCountParameter(tail, 'tail', LIMITS.logLines),
      })
      // Not `reply.send`, which would keep the slot for lists until a slow client has read everything.
      void reply.type('application/json; charset=utf-8')
      return log
    },
  })

  api.route({
    method: 'GET',
    url: '/v1/runs/:id/logs/search',
    config: {
      list: true,
      permission: 'read',
      reference: { answers: { 200: 'LogSearch' }, problems: ['run_not_found', 'log_not_found'] },
    },
    schema: { summary: 'Search the log of a run', params, querystring: SearchParameters },
    handler: (request, reply) => {
      const { q, mode = 'literal', case: cases, attempt, from_line, limit } = request.query
      return runs.searchLog(
        projectOf(request),
        readRunId(request.params.id),
        {
          query: { text: q, mode, ignoresCase: cases === 'ignore' },
          attempt: readCountParameter(attempt, 'attempt', MOST),
          from: readCountParameter(from_line, 'from_line', MAX_LINES, 0) ?? 0,
          limit: readCountParameter(limit, 'limit', LIMITS.searchHits) ?? DEFAULT_HITS,
        },
        disconnectSignal(reply),
      )
    },
  })

  api.route({
    method: 'GET',
    url: '/v1/runs/:id/logs/raw',
    // Not a list: a slow client would keep its slot. The log reader reads for two downloads at a time.
    config: {
      permission: 'read',
      reference: { answers: { 200: 'text/plain' }, problems: ['run_not_found', 'log_not_found'] },
    },
    schema: { summary: 'Download the log of a run', params, querystring: AttemptParameters },
    handler: async (request, reply) => {
      const id = readRunId(request.params.id)
      const attempt = readCountParameter(request.query.attempt, 'attempt', MOST)
      const bytes = await runs.rawLog(projectOf(request), id, attempt)
      return reply
        .header('content-type', 'text/plain; charset=utf-8')
        .header('content-disposition', `attachment; filename="${id}.log"`)
        .header('content-security-policy', 'sandbox')
        .send(Readable.from(bytes))
    },
  })
}

function followRoute(
  api: Api,
  { admin: { runs }, clientFor, clock }: Pick<ApiOptions, 'admin' | 'clientFor' | 'clock'>,
): void {
  const params = IdPathSchema

  api.route({
    method: 'GET',
    url: '/v1/runs/:id/logs/follow',
    config: {
      permission: 'read',
      reference: {
        answers: { 200: 'stream of a log' },
        takes: ['Last-Event-ID'],
        problems: ['run_not_found'],
      },
    },
    schema: {
      summary: 'Stream the log of a run',
      params,
      querystring: FollowParameters,
    },
    handler: async (request, reply) => {
      const id = readRunId(request.params.id)
      const project = projectOf(request)
      const attempt = readCountParameter(request.query.attempt, 'attempt', MOST)
      await runs.find(project, id)
      const ended = requestEndedSignal(request, reply)
      const seen = lastSeen(request.headers['last-event-id'])
      const from = { ...(seen ?? { attempt }), maySkip: request.query.skip === 'true' }
      const followed = runs.follow(project, id, from, ended)
      await send(startEvents(reply, clock), followed, async () => {
        if (ended.reason === TOKEN_REFUSED) return null
        const { state, process } = await clientFor(project, null).getRun(id)
        return { state, exit_code: process?.exit_code ?? null, signal: process?.signal ?? null }
      })
    },
  })
}

async function send(
  events: EventStream,
  followed: AsyncGenerator<FollowedOutput>,
  end: () => Promise<object | null>,
): Promise<void> {
  for await (const piece of followed) {
    if (piece.kind === 'output') await events.sendFrame(outputFrame(piece))
    else await events.send(skipped(piece))
  }
  const data = events.isClosed ? null : await end()
  if (data !== null) await events.send({ event: 'end', data })
  events.close()
}

/** Hundreds may follow one run, so a frame for all of them is encoded once. */
const frames = new WeakMap<FollowedChunk, Buffer>()

function outputFrame(piece: FollowedChunk): Buffer {
  const known = frames.get(piece)
  if (known) return known
  const { attempt, chunk, startedAt, entries } = piece
  const frame = frameOf({
    event: 'output',
    id: `${attempt}.${chunk}`,
    data: {
      attempt,
      started_at: new Date(startedAt).toISOString(),
      entries: entries.map(([ms, stream, text]) => [ms, STREAMS[stream], text]),
    },
  })
  frames.set(piece, frame)
  return frame
}

function skipped({ attempt, chunks }: Exclude<FollowedOutput, FollowedChunk>) {
  return { event: 'skipped', data: { attempt, chunks } }
}

/** Where an earlier connection ended: the stream continues after that chunk. */
function lastSeen(id: unknown): { attempt: number; chunk: number } | undefined {
  const [, attempt, chunk] = /^(\d{1,9})\.(\d{1,9})$/.exec(typeof id === 'string' ? id : '') ?? []
  if (attempt === undefined || chunk === undefined) return undefined
  return { attempt: Number(attempt), chunk: Number(chunk) + 1 }
}
