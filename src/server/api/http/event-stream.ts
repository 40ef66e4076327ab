import { once } from 'node:events'
import type { FastifyReply } from 'fastify'
import type { Clock } from '../../../core/clock.ts'

/**
 * Interval of keep-alive comments: proxies close silent connections, and a dead peer is noticed.
 */
const KEEP_ALIVE_MS = 15_000

export interface EventStream {
  readonly isClosed: boolean
  /**
   * Resolves when there is space in the buffer: events for a slow reader do not pile up in memory.
   */
  send(event: StreamedEvent): Promise<void>
  /** Sends a frame made by `frameOf`, which many readers can share. */
  sendFrame(frame: Buffer): Promise<void>
  close(): void
}

export interface StreamedEvent {
  readonly event: string
  readonly id?: string
  /** An object, or text that is JSON already. */
  readonly data: object | string
}

/** Encodes an event as a server-sent event. */
export function frameOf({ event, id, data }: StreamedEvent): Buffer {
  const text = typeof data === 'string' ? data : JSON.stringify(data)
  const name = id === undefined ? '' : `id: ${id}\n`
  return Buffer.from(`${name}event: ${event}\ndata: ${text}\n\n`)
}

/** Turns a reply into a stream of server-sent events. */
export function startEvents(reply: FastifyReply, clock: Clock): EventStream {
  const { raw } = reply
  reply.hijack()
  raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  raw.flushHeaders()
  const closed = new AbortController()
  raw.once('close', () => closed.abort('over'))
  const keepAlive = async () => {
    for (;;) {
      await clock.sleep(KEEP_ALIVE_MS, closed.signal)
      if (closed.signal.aborted) return
      // A peer that reads nothing needs no keep-alive; its connection ends as stalled.
      if (!raw.writableNeedDrain) raw.write(': still here\n\n')
    }
  }
  void keepAlive()

  const sendFrame = async (frame: Buffer) => {
    if (raw.destroyed || raw.write(frame)) return
    const settled = new AbortController()
    await Promise.race([
      once(raw, 'drain', { signal: settled.signal }),
      once(raw, 'close', { signal: settled.signal }),
    ]).finally(() => settled.abort())
  }

  return {
    get isClosed() {
      return raw.destroyed || raw.writableEnded
    },
    send: (event) => sendFrame(frameOf(event)),
    sendFrame,
    close() {
      closed.abort('over')
      raw.end()
    },
  }
}
