import { Worker } from 'node:worker_threads'
import { StoreError } from '../../port.ts'
import { type FatalStoreError, fromWire } from '../connection/store-errors.ts'
import type { ReadMessage, ReadRequest } from './reader-protocol.ts'
import type { QueryName, QueryOperations } from '../engine/queries.ts'

export type ReadCall = <Name extends QueryName>(
  operation: Name,
  ...args: Parameters<QueryOperations[Name]>
) => Promise<ReturnType<QueryOperations[Name]>>

/** Threads with read-only connections, started when the first list is asked for. */
export interface Readers {
  readonly call: ReadCall
  /** The running threads; tests terminate one of them. */
  readonly workers: readonly Worker[]
  /** Waits for pending answers. With `abandon` the threads are left until the process exits. */
  close(abandon: boolean): Promise<void>
}

interface Waiting {
  resolve(value: unknown): void
  reject(error: Error): void
}

interface Reader {
  readonly worker: Worker
  readonly waiting: Map<number, Waiting>
}

export interface ReadersOptions {
  readonly path: string
  readonly count: number
  readonly onFatal: (error: FatalStoreError) => void
}

export function createReaders({ path, count, onFatal }: ReadersOptions): Readers {
  const readers: Reader[] = []
  let lastId = 0
  let isClosed = false

  /** A thread that exits by itself fails only its own queries; the next query starts another. */
  const drop = (reader: Reader, why: string) => {
    const at = readers.indexOf(reader)
    if (at >= 0) readers.splice(at, 1)
    const failure = new StoreError('unavailable', `the reader thread exited: ${why}`)
    for (const { reject } of reader.waiting.values()) reject(failure)
    reader.waiting.clear()
  }

  const start = (): Reader => {
    const worker = new Worker(entry(), { workerData: { path }, execArgv: [] })
    const reader: Reader = { worker, waiting: new Map() }
    listen(reader, drop, onFatal)
    readers.push(reader)
    return reader
  }

  /** An idle thread, a new one while the limit allows, or the one with the shortest queue. */
  const pick = (): Reader => {
    const [idlest] = readers.toSorted((a, b) => a.waiting.size - b.waiting.size)
    if (idlest && (idlest.waiting.size === 0 || readers.length >= count)) return idlest
    return start()
  }

  const request = (operation: QueryName, args: readonly unknown[]): Promise<unknown> => {
    if (isClosed) return Promise.reject(new StoreError('unavailable', 'the store is closed'))
    const { worker, waiting } = pick()
    lastId += 1
    const id = lastId
    return new Promise((resolve, reject) => {
      worker.postMessage({ id, operation, args } satisfies ReadRequest)
      waiting.set(id, { resolve, reject })
    })
  }

  return {
    call: ((operation, ...args) => request(operation, args)) as ReadCall,
    get workers() {
      return readers.map(({ worker }) => worker)
    },
    async close(abandon) {
      isClosed = true
      const open = [...readers]
      if (abandon) {
        for (const { worker } of open) worker.unref()
        return
      }
      await Promise.all(
        open.map(({ worker }) => {
          const exited = new Promise((resolve) => worker.once('exit', resolve))
          worker.postMessage({ id: 0, operation: 'close', args: [] } satisfies ReadRequest)
          return exited
        }),
      )
    },
  }
}

/** Settles the queries of the thread as its answers arrive. */
function listen(
  reader: Reader,
  drop: (reader: Reader, why: string) => void,
  onFatal: ReadersOptions['onFatal'],
): void {
  const { worker, waiting } = reader
  const settle = (id: number): Waiting | undefined => {
    const found = waiting.get(id)
    waiting.delete(id)
    return found
  }
  worker.on('error', (error) => drop(reader, String(error)))
  worker.on('exit', (code) => drop(reader, `exit ${code}`))
  worker.on('message', (message: ReadMessage) => {
    switch (message.kind) {
      case 'done':
        settle(message.id)?.resolve(message.value)
        break
      case 'failed':
        settle(message.id)?.reject(fromWire(message.failure))
        break
      case 'fatal':
        onFatal(fromWire(message.failure) as FatalStoreError)
        break
    }
  })
}

/** Next to this file, with the same extension: `.ts` in the source tree, `.js` when built. */
function entry(): URL {
  const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
  return new URL(`./reader-main${extension}`, import.meta.url)
}
