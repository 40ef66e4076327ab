import type { Problem } from '../../core/wire/runs.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure, failureOf } from '../errors/failure.ts'
import type { ServerAddress } from './server-address.ts'
import { unreachable } from '../errors/unreachable.ts'

/** Requests to the server, in its own words: commands show what it says. */
export interface ServerCalls {
  readonly url: string
  call<T>(method: string, path: string, body?: unknown, options?: CallOptions): Promise<T>
  /** Whether it can work, and what time it believes it is. Needs no token. */
  health(): Promise<{ isReady: boolean; reason: string; at: number | null }>
  /** Events of a stream, taken up again where a connection broke. */
  events(path: string, signal: AbortSignal): AsyncGenerator<ServerEvent>
  /** Bytes as they come. */
  stream(path: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export interface ServerEvent {
  readonly event: string
  readonly id: string | undefined
  readonly data: unknown
}

const TRIES = 5

export function createServerCalls(
  { url, token }: ServerAddress,
  options: { project?: string | undefined; sleep(ms: number): Promise<void> },
): ServerCalls {
  const common = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(options.project === undefined ? {} : { 'punctual-project': options.project }),
  }

  const send = async (method: string, path: string, init: RequestInit): Promise<Response> => {
    let answer: Response
    try {
      answer = await fetch(url + path, { ...init, method, headers: { ...common, ...init.headers } })
    } catch (error) {
      init.signal?.throwIfAborted()
      throw unreachable(url, error)
    }
    if (answer.ok) return answer
    const problem = readAnswer<Problem>(await answer.text(), url)
    // Others have errors too, such as a proxy whose server is away.
    throw typeof problem?.detail === 'string' ? failureOf(problem) : stranger(url)
  }

  return {
    url,

    async call(method, path, body, { headers = {}, signal } = {}) {
      const answer = await send(method, path, {
        ...(signal ? { signal } : {}),
        headers: {
          ...headers,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return readAnswer(await answer.text(), url) as never
    },

    async health() {
      let answer: Response
      try {
        answer = await fetch(`${url}/readyz`)
      } catch (error) {
        throw unreachable(url, error)
      }
      const date = answer.headers.get('date')
      const { reason = '' } = readAnswer<{ reason?: string }>(await answer.text(), url) ?? {}
      return { isReady: answer.ok, reason, at: date === null ? null : Date.parse(date) }
    },

    async *events(path, signal) {
      let last: string | undefined
      for (let failures = 0; ;) {
        try {
          const headers = last === undefined ? {} : { 'last-event-id': last }
          const answer = await send('GET', path, { headers, signal })
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
        // A stream that ends without an end was cut off.
        failures += 1
        if (failures > TRIES) throw unreachable(url, undefined)
        await options.sleep(200 * 2 ** failures)
      }
    },

    async stream(path, signal) {
      const answer = await send('GET', path, { signal })
      return (answer.body ?? []) as AsyncIterable<Uint8Array>
    },
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

function readAnswer<T>(text: string, url: string): T | undefined {
  if (text === '') return undefined
  try {
    return JSON.parse(text) as T
  } catch (error) {
    throw stranger(url, error)
  }
}

function stranger(url: string, cause?: unknown): Failure {
  return new Failure(`what answers at ${url} is not a Punctual server`, {
    exitCode: EXIT.unreachable,
    hint: 'Check the address given with --server or PUNCTUAL_SERVER.',
    cause,
  })
}
