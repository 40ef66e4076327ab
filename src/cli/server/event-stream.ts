import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { unreachable } from '../errors/unreachable.ts'
import type { NodeRequests } from './node-requests.ts'

export interface ServerEvent {
  readonly event: string
  readonly id: string | undefined
  readonly data: unknown
}

/** Failures in a row, after which a stream is given up. */
const TRIES = 5

interface FollowOptions {
  readonly signal: AbortSignal
  sleep(ms: number): Promise<void>
}

/** Follows an event stream to its end, and resumes it after the last event when the connection breaks. */
export async function* followEvents(
  requests: NodeRequests,
  path: string,
  { signal, sleep }: FollowOptions,
): AsyncGenerator<ServerEvent> {
  let last: string | undefined
  for (let failures = 0; ;) {
    try {
      const headers = last === undefined ? {} : { 'last-event-id': last }
      const answer = await requests.send('GET', path, { headers, signal })
      for await (const event of readEvents(answer)) {
        failures = 0
        if (event.id !== undefined) last = event.id
        yield event
        if (event.event === 'end') return
      }
    } catch (error) {
      if (signal.aborted) return
      if (!isPassing(error)) throw error
    }
    // The connection broke before the end of the stream.
    failures += 1
    if (failures > TRIES) throw unreachable(requests.url, undefined)
    await sleep(200 * 2 ** failures)
  }
}

function isPassing(error: unknown): boolean {
  if (!(error instanceof Failure)) return true
  return error.exitCode === EXIT.unreachable
}

async function* readEvents(answer: Response): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    text += decoder.decode(bytes, { stream: true })
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const event = parseEvent(text.slice(0, end))
      text = text.slice(end + 2)
      if (event) yield event
    }
  }
}

function parseEvent(block: string): ServerEvent | undefined {
  const fields = new Map(
    block.split('\n').map((line): [string, string] => {
      const at = line.indexOf(': ')
      return [line.slice(0, at), line.slice(at + 2)]
    }),
  )
  const data = fields.get('data')
  if (data === undefined) return undefined
  return { event: fields.get('event') ?? 'message', id: fields.get('id'), data: JSON.parse(data) }
}
