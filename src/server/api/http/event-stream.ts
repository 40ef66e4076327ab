import { once } from 'node:events'
import type { FastifyReply } from 'fastify'
import type { Clock } from '../../../core/clock.ts'

/** A comment now and then: proxies close what is silent, and a dead peer is noticed. */
const BEAT_MS = 15_000

export interface EventStream {
  readonly isClosed: boolean
  /** Resolves when there is room for more: a reader that is slow is not kept in memory. */
  send(event: StreamedEvent): Promise<void>
  /** The same with what `frameOf` made, once for many readers. */
  sendFrame(frame: Buffer): Promise<void>
  close(): void
}

export interface StreamedEvent {
  readonly event: string
  readonly id?: string
  /** Written as JSON, or as JSON that was written before. */
  readonly data: object | string
}

/** An event as it travels. */
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
  const beat = async () => {
    for (;;) {
      await clock.sleep(BEAT_MS, closed.signal)
      if (closed.signal.aborted) return
      // To whoever takes nothing there is nothing to add; the connection ends for being stalled.
      if (!raw.writableNeedDrain) raw.write(': still here\n\n')
    }
  }
  void beat()

  const sendFrame = async (frame: Buffer) => {
    if (raw.destroyed || raw.write(frame)) return
    const gone = new AbortController()
    await Promise.race([
      once(raw, 'drain', { signal: gone.signal }),
      once(raw, 'close', { signal: gone.signal }),
    ]).finally(() => gone.abort())
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
