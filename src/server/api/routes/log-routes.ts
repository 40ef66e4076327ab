import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { LIMITS } from '../../../core/limits.ts'
import type { Followed, FollowedChunk } from '../../logs/live-log.ts'
import { STREAMS } from '../../logs/log-lines.ts'
import { projectOf } from '../http/access.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { fields, oneOf, text } from '../../../core/schema/fields.ts'
import { type EventStream, frameOf, startEvents } from '../http/event-stream.ts'
import { flagParameter, IdPath, readCount, runId, whenGone } from '../http/request.ts'

const count = (description: string) =>
  Type.Optional(Type.String({ pattern: '^[0-9]{1,12}$', description }))

const Part = fields({
  attempt: count('a whole number, 1 or more'),
  from_line: count('a whole number'),
  limit: count(`a whole number, 1 to ${LIMITS.logLines}`),
  tail: count(`a whole number, 1 to ${LIMITS.logLines}: so many lines of the end`),
})
const WhichAttempt = fields({ attempt: count('a whole number, 1 or more') })

const WhatToFind = fields({
  q: text(LIMITS.searchLength),
  mode: Type.Optional(oneOf(['literal', 'regex'])),
  case: Type.Optional(oneOf(['sensitive', 'ignore'])),
  attempt: count('a whole number, 1 or more'),
  from_line: count('a whole number'),
  limit: count(`a whole number, 1 to ${LIMITS.searchHits}`),
})
const WhatToFollow = fields({
  attempt: count('a whole number, 1 or more'),
  skip: flagParameter,
})

/** Lines that a search shows when nobody says how many. */
const HITS = 100
const MOST = 2 ** 31 - 1
/** Lines of one attempt: sixteen gigabytes may be nothing but newlines. */
const MOST_LINES = 2 ** 40

export function logRoutes(
  api: Api,
  { admin, clientFor, clock }: Pick<ApiOptions, 'admin' | 'clientFor' | 'clock'>,
): void {
  const { runs } = admin
  const params = IdPath

  api.route({
    method: 'GET',
    url: '/v1/runs/:id/logs',
    config: {
      permission: 'read',
      reference: { answers: { 200: 'Log' }, problems: ['run_not_found', 'log_not_found'] },
    },
    schema: { summary: 'Read what a run printed, line by line', params, querystring: Part },
    handler: (request) => {
      const { attempt, from_line, limit, tail } = request.query
      return runs.log(projectOf(request), runId(request.params.id), {
        attempt: readCount(attempt, 'attempt', MOST),
        from: readCount(from_line, 'from_line', MOST_LINES, 0),
        limit: readCount(limit, 'limit', LIMITS.logLines),
        tail: readCount(tail, 'tail', LIMITS.logLines),
      })
    },
  })

  api.route({
    method: 'GET',
    url: '/v1/runs/:id/logs/search',
    config: {
      permission: 'read',
      reference: { answers: { 200: 'LogSearch' }, problems: ['run_not_found', 'log_not_found'] },
    },
    schema: { summary: 'Find lines in what a run printed', params, querystring: WhatToFind },
    handler: (request, reply) => {
      const { q, mode = 'literal', case: cases, attempt, from_line, limit } = request.query
      return runs.searchLog(
        projectOf(request),
        runId(request.params.id),
        {
          query: { text: q, mode, ignoresCase: cases === 'ignore' },
          attempt: readCount(attempt, 'attempt', MOST),
          from: readCount(from_line, 'from_line', MOST_LINES, 0) ?? 0,
          limit: readCount(limit, 'limit', LIMITS.searchHits) ?? HITS,
        },
        whenGone(reply),
      )
    },
  })

  api.route({
    method: 'GET',
    url: '/v1/runs/:id/logs/raw',
    config: {
      permission: 'read',
      reference: { answers: { 200: 'text/plain' }, problems: ['run_not_found', 'log_not_found'] },
    },
    schema: { summary: 'Download what a run printed', params, querystring: WhichAttempt },
    handler: async (request, reply) => {
      const id = runId(request.params.id)
      const attempt = readCount(request.query.attempt, 'attempt', MOST)
      const bytes = await runs.rawLog(projectOf(request), id, attempt)
      return reply
        .header('content-type', 'text/plain; charset=utf-8')
        .header('content-disposition', `attachment; filename="${id}.log"`)
        .header('content-security-policy', 'sandbox')
        .send(Readable.from(bytes))
    },
  })

  api.route({
    method: 'GET',
    url: '/v1/runs/:id/logs/follow',
    config: {
      permission: 'read',
      reference: {
        answers: { 200: 'text/event-stream' },
        takes: ['Last-Event-ID'],
        problems: ['run_not_found'],
      },
    },
    schema: { summary: 'Follow what a run prints, as events', params, querystring: WhatToFollow },
    handler: async (request, reply) => {
      const id = runId(request.params.id)
      const project = projectOf(request)
      const attempt = readCount(request.query.attempt, 'attempt', MOST)
      await runs.find(project, id)
      const gone = whenGone(reply)
      const seen = lastSeen(request.headers['last-event-id'])
      const from = { ...(seen ?? { attempt }), maySkip: request.query.skip === 'true' }
      await send(startEvents(reply, clock), runs.follow(project, id, from, gone), async () => {
        const { state, process } = await clientFor(project, null).getRun(id)
        return { state, exit_code: process?.exit_code ?? null, signal: process?.signal ?? null }
      })
    },
  })
}

async function send(
  events: EventStream,
  followed: AsyncGenerator<Followed>,
  end: () => Promise<object>,
): Promise<void> {
  for await (const piece of followed) {
    if (piece.kind === 'output') await events.sendFrame(outputFrame(piece))
    else await events.send(skipped(piece))
  }
  if (!events.isClosed) await events.send({ event: 'end', data: await end() })
  events.close()
}

/** Hundreds may follow one run: what they all get is written once. */
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

function skipped({ attempt, chunks }: Exclude<Followed, FollowedChunk>) {
  return { event: 'skipped', data: { attempt, chunks } }
}

/** Where an earlier connection broke off: what comes after that chunk is wanted. */
function lastSeen(id: unknown): { attempt: number; chunk: number } | undefined {
  const [, attempt, chunk] = /^(\d{1,9})\.(\d{1,9})$/.exec(typeof id === 'string' ? id : '') ?? []
  if (attempt === undefined || chunk === undefined) return undefined
  return { attempt: Number(attempt), chunk: Number(chunk) + 1 }
}
