import { Worker } from 'node:worker_threads'
import { StoreError } from '../../port.ts'
import { FatalStoreError, fromWire, isFatal, type WireFailure } from '../connection/store-errors.ts'
import type { Inspection, Position } from './inspect-database.ts'
import type { SqliteHealth } from '../health/health.ts'

export interface InspectTask {
  readonly path: string
  readonly from: Position | null
  readonly wholeBytes: number
  readonly budgetMs: number
}

export type InspectMessage =
  | ({ readonly kind: 'inspected' } & Inspection)
  | { readonly kind: 'failed'; readonly failure: WireFailure }

/** A quarter of a second on an ordinary machine. */
const WHOLE_BYTES = 128 * 1024 * 1024
const BUDGET_MS = 250

/** Looks for damage in a separate thread; damage fails the whole store. */
export function createInspector(path: string, health: SqliteHealth): () => Promise<void> {
  let from: Position | null = null
  return async () => {
    health.require()
    const message = await inspectOnce({ path, from, wholeBytes: WHOLE_BYTES, budgetMs: BUDGET_MS })
    if (message.kind === 'failed') {
      throw failedWith(fromWire(message.failure), path, health)
    }
    from = message.next
    if (message.finding === null) return
    const text = `${path} is damaged: ${message.finding}`
    const damaged = new FatalStoreError('unavailable', text, { trouble: 'damaged' })
    health.lose(damaged)
    throw damaged
  }
}

/** A part of the file that the disk cannot read is as lost as a damaged one. */
function failedWith(failure: Error, path: string, health: SqliteHealth): Error {
  if (!isFatal(failure)) return failure
  const text = `${path} is damaged or cannot be read: ${failure.message}`
  const damaged = new FatalStoreError('unavailable', text, { cause: failure, trouble: 'damaged' })
  health.lose(damaged)
  return damaged
}

function inspectOnce(task: InspectTask): Promise<InspectMessage> {
  const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
  const entry = new URL(`./inspect-main${extension}`, import.meta.url)
  const thread = new Worker(entry, { workerData: task, execArgv: [] })
  // A server that stops does not wait for it.
  thread.unref()
  return new Promise((resolve, reject) => {
    thread.once('message', resolve)
    thread.once('error', reject)
    thread.once('exit', () => reject(new StoreError('unavailable', 'the inspection ended early')))
  })
}
