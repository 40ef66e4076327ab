import { Worker } from 'node:worker_threads'
import { StoreError, type TickBatch } from '../../port.ts'
import type { Call } from '../engine/call.ts'
import { FatalStoreError, fromWire } from '../connection/store-errors.ts'
import type { OpenOptions } from '../files/open-database.ts'
import { packBatch, type PackedResult, unpackResult } from './thread-pack.ts'
import type { Message, Request } from './thread-protocol.ts'

export interface DatabaseThread {
  readonly version: string
  readonly call: Call
  readonly failed: boolean
  readonly worker: Worker
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

/** Starts the thread that owns the writing connection; resolves once the database is open. */
export function startThread(options: OpenOptions, hooks: ThreadHooks): Promise<DatabaseThread> {
  const worker = new Worker(entry(), { workerData: options, execArgv: [] })
  const waiting = new Map<number, Waiting>()
  let lastId = 0
  let gone: Error | undefined
  let failed = false

  const request = (verb: Request['verb'], args: readonly unknown[]): Promise<unknown> => {
    if (gone) return Promise.reject(gone)
    lastId += 1
    const id = lastId
    const now = hooks.now?.()
    return new Promise((resolve, reject) => {
      worker.postMessage({
        id,
        verb,
        args,
        ...(now === undefined ? {} : { now }),
      } satisfies Request)
      waiting.set(id, { resolve, reject })
    })
  }

  const settle = (id: number): Waiting | undefined => {
    const found = waiting.get(id)
    waiting.delete(id)
    return found
  }

  /** What was under way may be in the file or not: nobody is left to ask. */
  const fail = (why: string) => {
    if (gone) return
    const fatal = new FatalStoreError('unavailable', `the database thread is gone: ${why}`)
    gone = fatal
    failed = true
    for (const { reject } of waiting.values()) reject(new StoreError('unknown', fatal.message))
    waiting.clear()
    hooks.onFatal(fatal)
  }

  const close = async () => {
    if (gone) return
    if (failed) {
      // Ending the thread would close the file, and so sync it once more: the process takes it along.
      worker.unref()
      return
    }
    const exited = new Promise((resolve) => worker.once('exit', resolve))
    const closing = request('close', [])
    gone = new StoreError('unavailable', 'the store is closed')
    await closing
    await exited
  }

  return new Promise((resolve, reject) => {
    worker.on('error', (error) => fail(String(error)))
    worker.on('exit', (code) => {
      fail(`exit ${code}`)
      reject(gone ?? new StoreError('unavailable', 'the database thread ended'))
    })
    worker.on('message', (message: Message) => {
      switch (message.kind) {
        case 'open':
          resolve({
            version: message.version,
            call: (async (verb, ...args) => {
              if (verb !== 'tick') return request(verb, args)
              const packed = await request(verb, [packBatch(args[0] as TickBatch)])
              return unpackResult(packed as PackedResult)
            }) as Call,
            get failed() {
              return failed
            },
            worker,
            close,
          })
          break
        case 'not-open':
          gone = fromWire(message.failure)
          reject(gone)
          break
        case 'done':
          settle(message.id)?.resolve(message.value)
          break
        case 'failed':
          settle(message.id)?.reject(fromWire(message.failure))
          break
        case 'fatal':
          failed = true
          hooks.onFatal(fromWire(message.failure) as FatalStoreError)
          break
      }
    })
  })
}

/** Beside this file, under the same extension: `.ts` as written, `.js` as built. */
function entry(): URL {
  const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
  return new URL(`./thread-main${extension}`, import.meta.url)
}
