import { Worker } from 'node:worker_threads'
import type { Clock } from '../../../core/clock.ts'
import { PunctualError } from '../../../core/errors.ts'
import { createConcurrencyLimit } from '../../loops/concurrency-limit.ts'
import type { ScanOrder, ScanReport } from './messages.ts'

/** A few chunks take milliseconds; a search that takes this long for them is aborted. */
const PATIENCE_MS = 10_000

export interface SearchThread {
  scan(order: ScanOrder): Promise<ScanReport>
}

/** Searches take turns of a few chunks each, on one thread that the first of them starts. */
export function createSearchThread(clock: Clock): SearchThread {
  const takeTurn = createConcurrencyLimit(1)
  let worker: Worker | undefined
  let waiting: PromiseWithResolvers<ScanReport> | undefined

  const start = (): Worker => {
    const thread = new Worker(entry(), { execArgv: [] })
    thread.on('message', (report: ScanReport) => waiting?.resolve(report))
    thread.on('error', (error) => {
      if (worker === thread) worker = undefined
      waiting?.reject(error)
    })
    // An idle search thread must not keep the server alive.
    thread.unref()
    return thread
  }

  const giveUp = async (signal: AbortSignal) => {
    await clock.sleep(PATIENCE_MS, signal)
    if (signal.aborted) return
    // A running pattern cannot be interrupted, but its thread can be terminated.
    void worker?.terminate()
    worker = undefined
    waiting?.reject(tooSlow())
  }

  const ask = async (order: ScanOrder): Promise<ScanReport> => {
    const answered = new AbortController()
    waiting = Promise.withResolvers()
    worker ??= start()
    worker.postMessage(order)
    void giveUp(answered.signal)
    try {
      return await waiting.promise
    } finally {
      answered.abort('over')
    }
  }

  return { scan: (order) => takeTurn(() => ask(order)) }
}

function tooSlow(): PunctualError {
  const message = `q takes too long: more than ${PATIENCE_MS / 1_000} s for a megabyte`
  return new PunctualError('invalid_field', message, { field: 'q' })
}

/**
 * The thread's entry file, in this folder, with the same extension: `.ts` in source, `.js` in the
 * build.
 */
function entry(): URL {
  const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
  return new URL(`./thread-main${extension}`, import.meta.url)
}
