import { Worker } from 'node:worker_threads'
import type { Clock } from '../../../core/clock.ts'
import { PunctualError } from '../../../core/errors.ts'
import { createTurns } from '../../loops/concurrency-limit.ts'
import type { ScanOrder, ScanReport } from './messages.ts'

/** A few chunks take milliseconds; a pattern that takes this long for them is not worth it. */
const PATIENCE_MS = 10_000

export interface SearchThread {
  scan(order: ScanOrder): Promise<ScanReport>
}

/** Searches take turns, a few chunks each, on one thread that the first of them starts. */
export function createSearchThread(clock: Clock): SearchThread {
  const takeTurn = createTurns(1)
  let worker: Worker | undefined
  let waiting: PromiseWithResolvers<ScanReport> | undefined

  const start = (): Worker => {
    const thread = new Worker(entry(), { execArgv: [] })
    thread.on('message', (report: ScanReport) => waiting?.resolve(report))
    thread.on('error', (error) => {
      if (worker === thread) worker = undefined
      waiting?.reject(error)
    })
    // It must not keep a server alive that has nothing else to do.
    thread.unref()
    return thread
  }

  const giveUp = async (signal: AbortSignal) => {
    await clock.sleep(PATIENCE_MS, signal)
    if (signal.aborted) return
    // Nobody can interrupt it, but it can be done without.
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

/** Beside this file, under the same extension: `.ts` as written, `.js` as built. */
function entry(): URL {
  const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
  return new URL(`./thread-main${extension}`, import.meta.url)
}
