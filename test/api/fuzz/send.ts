import { Pool as Connections } from 'undici'
import { scaledMs } from '../../support/slowdown-factor.ts'
import type { FuzzAnswer } from './answer-checker.ts'
import type { FuzzRequest } from './requests.ts'

/** A missing answer is a finding; a slow answer on a busy machine is not. */
const LONGEST_MS = scaledMs(60_000)

export interface Sender {
  /** Rejects if no answer comes in time, or if the connection breaks. */
  send(request: FuzzRequest): Promise<FuzzAnswer>
  close(): Promise<void>
}

/** Real requests over kept connections. */
export function createSender(url: string, connections: number): Sender {
  const pool = new Connections(url, { connections })
  return {
    async send({ operation, path, headers, body }) {
      const answer = await pool.request({
        path,
        method: operation.method,
        headers,
        body: body ?? null,
        signal: AbortSignal.timeout(LONGEST_MS),
      })
      const isStream = String(answer.headers['content-type']).startsWith('text/event-stream')
      const { statusCode: status, headers: got } = answer
      if (!isStream) return { status, headers: got, text: await answer.body.text() }
      // A stream lasts as long as the run; its start is enough.
      answer.body.on('error', () => {}).destroy()
      return { status, headers: got, text: '' }
    },
    close: () => pool.destroy(),
  }
}
