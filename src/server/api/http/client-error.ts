import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../../../core/clock.ts'
import { PunctualError } from '../../../core/errors.ts'
import { PROBLEM_TYPE, problemOf } from './problem.ts'

interface ClientError extends Error {
  readonly code?: string | undefined
  readonly rawPacket?: unknown
}

/**
 * Answers bytes that never became a request: there is only a socket and no reply object. They get a
 * problem document, too, and then the connection ends, because the following bytes cannot be
 * trusted.
 */
export function answerClientError(
  error: ClientError,
  socket: Socket,
  { requestId, clock }: { requestId: string; clock: Clock },
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const problem = problemOf(describe(error), requestId)
  const body = JSON.stringify(problem)
  socket.end(
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n` +
      `Content-Type: ${PROBLEM_TYPE}\r\n` +
      `X-Request-Id: ${requestId}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n` +
      `Connection: close\r\n\r\n${body}`,
  )
  void disconnect(socket, clock)
}

/**
 * Time for the client to read the answer. A client that never closes must not keep the connection
 * open.
 */
const LINGER_MS = 1_000

async function disconnect(socket: Socket, clock: Clock): Promise<void> {
  const closed = new AbortController()
  socket.once('close', () => closed.abort('closed'))
  await clock.sleep(LINGER_MS, closed.signal)
  socket.destroy()
}

function describe(error: ClientError): PunctualError {
  switch (error.code ?? '') {
    case 'HPE_HEADER_OVERFLOW':
      return isLongRequestLine(error.rawPacket)
        ? new PunctualError('uri_too_long', 'the URL is too long')
        : new PunctualError('headers_too_large', 'the headers are larger than 16 KiB')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new PunctualError('request_timeout', 'the request did not arrive in time')
    default:
      return new PunctualError('invalid_request', 'this is not a valid HTTP/1.1 request')
  }
}

export const MAX_URL_LENGTH = 8 * 1024
const REQUEST_LINE = /^[A-Z]+ \//

/** The parser fails before it says which part was too large; the packet still shows it. */
function isLongRequestLine(packet: unknown): boolean {
  if (!Buffer.isBuffer(packet) || !REQUEST_LINE.test(packet.toString('latin1', 0, 16))) return false
  const end = packet.indexOf('\r\n')
  return end < 0 || end > MAX_URL_LENGTH
}
