import { parentPort, workerData } from 'node:worker_threads'
import { type Engine, openEngine } from '../engine/prepare-operations.ts'
import { toWire } from '../connection/store-errors.ts'
import { systemNow } from '../connection/system-clock.ts'
import { type PackedBatch, packResult, unpackBatch } from './thread-pack.ts'
import type { OpenOptions } from '../files/open-database.ts'
import type { Message, Request } from './thread-protocol.ts'
import type { VerbName, Verbs } from '../operations/operations.ts'

/** The database thread: an fsync that stalls stops this, not the answers to heartbeats. */
function main(): void {
  if (!parentPort) throw new Error('this file is started as a worker thread')
  const port = parentPort
  const post = (message: Message) => port.postMessage(message)
  let givenNow: number | undefined
  const engine = open(post, () => givenNow ?? systemNow())
  if (!engine) {
    port.close()
    return
  }
  const { verbs } = engine
  port.on('message', ({ id, verb, args, now }: Request) => {
    givenNow = now
    try {
      const value = verb === 'close' ? engine.close() : answer(verbs, verb, args)
      post({ kind: 'done', id, value })
      if (verb === 'close') port.close()
      else engine.settle()
    } catch (error) {
      post({ kind: 'failed', id, failure: toWire(error) })
    }
  })
}

/** A tick is by far the largest message, so it alone travels packed. */
function answer(verbs: Verbs, verb: VerbName, args: readonly unknown[]): unknown {
  if (verb === 'tick') return packResult(verbs.tick(unpackBatch(args[0] as PackedBatch)))
  return (verbs[verb] as (...given: unknown[]) => unknown)(...args)
}

function open(post: (message: Message) => void, now: () => number): Engine | undefined {
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
