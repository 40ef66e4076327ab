import { parentPort, workerData } from 'node:worker_threads'
import { type SqliteEngine, openEngine } from '../engine/engine.ts'
import { toWire } from '../connection/store-errors.ts'
import { systemNow } from '../connection/system-clock.ts'
import { type PackedBatch, packResult, unpackBatch } from './thread-pack.ts'
import type { OpenOptions } from '../files/open-database.ts'
import type { ThreadMessage, ThreadRequest } from './thread-protocol.ts'
import type { OperationName, Operations } from '../engine/engine-operations.ts'

/** The database thread: an fsync that stalls blocks this thread, not the answers to heartbeats. */
function main(): void {
  if (!parentPort) throw new Error('this file is started as a worker thread')
  const port = parentPort
  const post = (message: ThreadMessage) => port.postMessage(message)
  let givenNow: number | undefined
  let expectedNow: number | undefined
  const engine = open(post, () => givenNow ?? systemNow())
  if (!engine) {
    port.close()
    return
  }
  const { operations } = engine
  engine.expectClock(() => expectedNow ?? null)
  port.on('message', ({ id, operation, args, now, expected }: ThreadRequest) => {
    givenNow = now
    expectedNow = expected
    try {
      const value = operation === 'close' ? engine.close() : answer(operations, operation, args)
      post({ kind: 'done', id, value })
      if (operation === 'close') port.close()
      else engine.settle()
    } catch (error) {
      post({ kind: 'failed', id, failure: toWire(error) })
    }
  })
}

/** A tick is by far the largest message, so only ticks are packed. */
function answer(
  operations: Operations,
  operation: OperationName,
  args: readonly unknown[],
): unknown {
  if (operation === 'tick') return packResult(operations.tick(unpackBatch(args[0] as PackedBatch)))
  return (operations[operation] as (...given: unknown[]) => unknown)(...args)
}

function open(post: (message: ThreadMessage) => void, now: () => number): SqliteEngine | undefined {
  try {
    const onFatal = (error: Error) => post({ kind: 'fatal', failure: toWire(error) })
    const engine = openEngine({ ...(workerData as OpenOptions), now, onFatal })
    post({ kind: 'open', version: engine.version })
    return engine
  } catch (error) {
    post({ kind: 'not-open', failure: toWire(error) })
    return undefined
  }
}

main()
