import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { waitFor } from '../support/wait-for.ts'

export interface Received {
  readonly id: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly body: WebhookMessage
  /** Whether the answer was sent before the client disconnected. */
  answered: boolean
}

export interface WebhookMessage {
  readonly type: string
  readonly timestamp: string
  readonly data: Record<string, unknown> & { readonly run?: { readonly id: string } }
}

/** Handles the n-th request, counted from 1. */
export type Behave = (response: ServerResponse, nth: number, received: Received) => void

/** An independent endpoint: it has the secret and no code of the product. */
export interface Receiver {
  readonly url: string
  /** For the allow list. */
  readonly address: string
  readonly received: readonly Received[]
  behave(how: Behave): void
  /** Waits until this many requests have come. */
  count(n: number): Promise<readonly Received[]>
  /** The highest number of simultaneous requests. */
  readonly mostAtOnce: number
  /** Ids of messages with two simultaneous tries. */
  readonly doubled: ReadonlySet<string>
}

export async function openReceiver(t: {
  after(end: () => Promise<void>): void
}): Promise<Receiver> {
  const received: Received[] = []
  const underWay = new Map<string, number>()
  const doubled = new Set<string>()
  let mostAtOnce = 0
  let behave: Behave = (response) => void response.writeHead(204).end()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => void chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const id = String(request.headers['webhook-id'])
      const body = JSON.parse(text) as WebhookMessage
      const one: Received = { id, headers: request.headers, text, body, answered: false }
      received.push(one)
      if (underWay.has(id)) doubled.add(id)
      underWay.set(id, (underWay.get(id) ?? 0) + 1)
      mostAtOnce = Math.max(
        mostAtOnce,
        [...underWay.values()].reduce((sum, n) => sum + n, 0),
      )
      response.on('close', () => {
        one.answered = response.writableFinished
        const left = (underWay.get(id) ?? 1) - 1
        if (left === 0) underWay.delete(id)
        else underWay.set(id, left)
      })
      behave(response, received.length, one)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook`,
    address: `127.0.0.1:${port}`,
    received,
    doubled,
    get mostAtOnce() {
      return mostAtOnce
    },
    behave: (how) => void (behave = how),
    count: (n) =>
      waitFor(() => (received.length >= n ? received : undefined), {
        what: `${n} messages`,
        deadlineMs: 60_000,
        intervalMs: 20,
      }),
  }
}

/** Checks a signature as the specification describes it, without product code. */
export function assertSigned({ headers, text }: Received, ...secrets: string[]): void {
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': given } = headers
  assert.ok(Math.abs(Date.now() / 1_000 - Number(at)) < 300, `signed at ${String(at)}`)
  const expected = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
    const mac = createHmac('sha256', key).update(`${String(id)}.${String(at)}.${text}`)
    return `v1,${mac.digest('base64')}`
  })
  assert.deepEqual(String(given).split(' '), expected)
}
