import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { openReader } from '../connection/connection.ts'
import { isFatal, toWire, translate } from '../connection/store-errors.ts'
import { guarded, prepareQueries } from '../engine/queries.ts'
import type { ReadMessage, ReadRequest } from './reader-protocol.ts'
import { createTransactions } from '../connection/transaction.ts'

/**
 * Below the threads that write and that answer workers, when there are fewer cores than threads.
 */
const NICE = 5

/** A reader thread: list queries take its time, not that of the event loop or the writer. */
function main(): void {
  if (!parentPort) throw new Error('this file is started as a worker thread')
  const port = parentPort
  const post = (message: ReadMessage) => port.postMessage(message)
  yieldToOthers()
  const onFatal = (error: Error) => post({ kind: 'fatal', failure: toWire(error) })
  // Opens with the first query, so that the answer to that query can say why opening failed.
  let opened: ReturnType<typeof open> | undefined
  port.on('message', ({ id, operation, args }: ReadRequest) => {
    try {
      if (operation === 'close') {
        opened?.db.close()
        port.close()
        return
      }
      opened ??= open((workerData as { path: string }).path, onFatal)
      const { queries } = opened
      const value = (queries[operation] as (...given: unknown[]) => unknown)(...args)
      post({ kind: 'done', id, value })
    } catch (error) {
      post({ kind: 'failed', id, failure: toWire(error) })
    }
  })
}

function open(path: string, onFatal: (error: Error) => void) {
  try {
    const db = openReader(path)
    return { db, queries: guarded(prepareQueries(db), createTransactions(db, onFatal).read) }
  } catch (error) {
    const failure = translate(error, 'work')
    if (isFatal(failure)) onFatal(failure)
    throw failure
  }
}

/** On Linux a priority belongs to one thread. Elsewhere it would apply to the whole process. */
function yieldToOthers(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(0, NICE)
  } catch {
    // Not permitted here: list queries then compete on equal terms.
  }
}

main()
