import { Worker } from 'node:worker_threads'
import { StoreError, type TickBatch } from '../../port.ts'
import type { OperationCall } from '../engine/call.ts'
import { FatalStoreError, fromWire } from '../connection/store-errors.ts'
import type { OpenOptions } from '../files/open-database.ts'
import { packBatch, type PackedResult, unpackResult } from './thread-pack.ts'
import type { ThreadMessage, ThreadRequest } from './thread-protocol.ts'

export interface DatabaseThread {
  readonly version: string
  readonly call: OperationCall
  readonly failed: boolean
  readonly worker: Worker
  expectClock(expected: () => number): void
  close(): Promise<void>
}

interface Waiting {
  resolve(value: unknown): void
  reject(error: Error): void
}

export interface ThreadHooks {
  readonly now: (() => number) | undefined
  readonly onFatal: (error: FatalStoreError) => void
}

/** The requests to the thread that have no answer yet. */
interface Requests {
  send(operation: ThreadRequest['operation'], args: readonly unknown[]): Promise<unknown>
  /** Removes a request whose answer has arrived. */
  settle(id: number): Waiting | undefined
  rejectAll(error: Error): void
  expectClock(expected: () => number): void
}

function createRequests(worker: Worker, wallNow: ThreadHooks['now']): Requests {
  const waiting = new Map<number, Waiting>()
  let lastId = 0
  let expected: (() => number) | undefined

  const send: Requests['send'] = (operation, args) => {
    lastId += 1
    const id = lastId
    const now = wallNow?.()
    const expectedNow = expected?.()
    return new Promise((resolve, reject) => {
      worker.postMessage({
        id,
        operation,
        args,
        ...(now === undefined ? {} : { now }),
        ...(expectedNow === undefined ? {} : { expected: expectedNow }),
      } satisfies ThreadRequest)
      waiting.set(id, { resolve, reject })
    })
  }

  const settle: Requests['settle'] = (id) => {
    const found = waiting.get(id)
    waiting.delete(id)
    return found
  }

  return {
    send,
    settle,
    rejectAll(error) {
      for (const { reject } of waiting.values()) reject(error)
      waiting.clear()
    },
    expectClock(given) {
      expected = given
    },
  }
}

/** Only ticks are packed: see `thread-pack.ts`. */
function callThrough(request: Requests['send']): OperationCall {
  return (async (operation, ...args) => {
    if (operation !== 'tick') return request(operation, args)
    const packed = await request(operation, [packBatch(args[0] as TickBatch)])
    return unpackResult(packed as PackedResult)
  }) as OperationCall
}

/** Starts the thread that owns the writing connection; resolves once the database is open. */
export function startThread(options: OpenOptions, hooks: ThreadHooks): Promise<DatabaseThread> {
  const worker = new Worker(entry(), { workerData: options, execArgv: [] })
  const requests = createRequests(worker, hooks.now)
  let failure: Error | undefined
  let failed = false

  const request: Requests['send'] = (operation, args) =>
    failure ? Promise.reject(failure) : requests.send(operation, args)

  /** A request under way may be committed or not: the thread can no longer say. */
  const fail = (why: string) => {
    if (failure) return
    const fatal = new FatalStoreError('unavailable', `the database thread exited: ${why}`)
    failure = fatal
    failed = true
    requests.rejectAll(new StoreError('unknown', fatal.message))
    hooks.onFatal(fatal)
  }

  const close = async () => {
    if (failure) return
    if (failed) {
      // Terminating the thread would close the file, and so sync it once more: the exiting process
      // ends the thread.
      worker.unref()
      return
    }
    const exited = new Promise((resolve) => worker.once('exit', resolve))
    const closing = request('close', [])
    failure = new StoreError('unavailable', 'the store is closed')
    try {
      await closing
    } catch (error) {
      // The files are no longer ours: the thread keeps them open until the process exits.
      worker.unref()
      throw error
    }
    await exited
  }

  return new Promise((resolve, reject) => {
    worker.on('error', (error) => fail(String(error)))
    worker.on('exit', (code) => {
      fail(`exit ${code}`)
      reject(failure ?? new StoreError('unavailable', 'the database thread exited'))
    })
    worker.on('message', (message: ThreadMessage) => {
      switch (message.kind) {
        case 'open':
          resolve({
            version: message.version,
            call: callThrough(request),
            get failed() {
              return failed
            },
            worker,
            expectClock: requests.expectClock,
            close,
          })
          break
        case 'not-open':
          failure = fromWire(message.failure)
          reject(failure)
          break
        case 'done':
          requests.settle(message.id)?.resolve(message.value)
          break
        case 'failed':
          requests.settle(message.id)?.reject(fromWire(message.failure))
          break
        case 'fatal':
          failed = true
          hooks.onFatal(fromWire(message.failure) as FatalStoreError)
          break
      }
    })
  })
}

/** Next to this file, with the same extension: `.ts` in the source tree, `.js` when built. */
function entry(): URL {
  const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
  return new URL(`./thread-main${extension}`, import.meta.url)
}
