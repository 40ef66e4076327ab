import { parentPort } from 'node:worker_threads'
import { unpackChunk } from '../chunk-pack.ts'
import type { ScanOrder, ScanReport } from './messages.ts'
import { createMatcher, type Matcher } from './pattern.ts'
import { type Hit, scanChunk, scanRest } from './scan.ts'

/** The search thread: however long a pattern takes, nothing else waits for it. */
function main(): void {
  if (!parentPort) throw new Error('this file is started as a worker thread')
  const port = parentPort
  let last: { readonly key: string; readonly matcher: Matcher } | undefined

  port.on('message', (order: ScanOrder) => {
    const key = JSON.stringify(order.query)
    if (last?.key !== key) last = { key, matcher: createMatcher(order.query) }
    port.postMessage(scan(order, last.matcher))
  })
}

function scan({ span, chunks, isEnd, ...given }: ScanOrder, matcher: Matcher): ScanReport {
  const hits: Hit[] = []
  let { open } = given
  let nextLine = 0
  let last = { nth: 0, open }
  const remaining = () => ({ from: span.from, limit: span.limit - hits.length })
  for (const [nth, { firstLine, packed }] of chunks.entries()) {
    last = { nth, open }
    const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength)
    const scanned = scanChunk(unpackChunk(bytes), firstLine, { open, span: remaining(), matcher })
    hits.push(...scanned.hits)
    ;({ open, nextLine } = scanned)
    if (hits.length >= span.limit) break
  }
  if (isEnd) hits.push(...scanRest(open, nextLine, { span: remaining(), matcher }))
  return { hits, open, nextLine, last }
}

main()
