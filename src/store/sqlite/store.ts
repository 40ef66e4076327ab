import { availableParallelism } from 'node:os'
import type { Store } from '../port.ts'
import { type OperationCall, callInline } from './engine/call.ts'
import { IN_MEMORY, openReader } from './connection/connection.ts'
import { type SqliteEngine, type EngineOptions, openEngine } from './engine/engine.ts'
import { guarded, prepareQueries, type QueryOperations } from './engine/queries.ts'
import type { FatalStoreError } from './connection/store-errors.ts'
import { freeBytesAt, realPath } from './connection/file-system.ts'
import { createInspector } from './files/inspector.ts'
import { createReaders } from './threads/readers.ts'
import { startThread } from './threads/thread.ts'
import { createTransactions } from './connection/transaction.ts'
import { createHealth, type SqliteHealth } from './health/health.ts'
import { createOperations, type QueryCall, type Runners } from './operations/operations.ts'

export { type SqliteEngine, type EngineOptions, openEngine } from './engine/engine.ts'
export { FatalStoreError, isFatal } from './connection/store-errors.ts'

export interface SqliteOptions extends EngineOptions {
  /** A file, or `:memory:`. */
  readonly path: string
  /** Whether a separate thread does the writing. The default for files. */
  readonly inThread?: boolean
  readonly tickCap?: number
}

const TICK_CAP = 1_000
/** While the thread writes one tick, the next may already be on its way to it. */
const TICKS_IN_FLIGHT_THREADED = 2
/**
 * Enough that one slow page does not delay the rest, and most cores stay free for more important
 * work.
 */
const READER_THREADS = availableParallelism() > 2 ? 2 : 1
/** Maintenance batches per call; the rest waits for the next call. */
const MAX_BATCHES = 100

export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { path, inThread = path !== IN_MEMORY } = options
  return inThread ? openThreaded(options) : openInline(options)
}

/** A store on an engine that other stores may share: the simulator has one per node. */
export function createStoreOnEngine(
  engine: SqliteEngine,
  options: { tickCap?: number } = {},
): Store {
  const { tickCap = TICK_CAP } = options
  const close = async () => engine.close()
  const call = callInline(engine)
  const { version, expectClock } = engine
  return toStore({ call, path: IN_MEMORY, version, tickCap, ticksInFlight: 1, expectClock, close })
}

function openInline(options: SqliteOptions): Store {
  const { path, tickCap = TICK_CAP } = options
  const health = createHealth(options.onFatal ?? (() => {}))
  const engine = openEngine({ ...options, onFatal: health.lose })
  const reader = path === IN_MEMORY ? undefined : openQueries(path, health.lose)
  return toStore({
    path,
    health,
    call: callInline(engine),
    queries: reader?.queries,
    version: engine.version,
    tickCap,
    ticksInFlight: 1,
    expectClock: engine.expectClock,
    close: async () => {
      if (!engine.failed) reader?.close()
      engine.close()
    },
  })
}

async function openThreaded(options: SqliteOptions): Promise<Store> {
  const { now, onFatal = () => {}, inThread: _, tickCap = TICK_CAP, ...rest } = options
  const health = createHealth(onFatal)
  const thread = await startThread(rest, { now, onFatal: health.lose })
  const { path } = rest
  const reader = path === IN_MEMORY ? undefined : openQueries(path, health.lose)
  const readers =
    path === IN_MEMORY
      ? undefined
      : createReaders({ path, count: READER_THREADS, onFatal: health.lose })
  return toStore({
    path: rest.path,
    health,
    call: thread.call,
    queries: reader?.queries,
    readCall: readers?.call,
    version: thread.version,
    tickCap,
    ticksInFlight: TICKS_IN_FLIGHT_THREADED,
    expectClock: thread.expectClock,
    close: async () => {
      if (!thread.failed) reader?.close()
      await readers?.close(thread.failed)
      await thread.close()
    },
  })
}

/** Reads see the last commit through a separate connection, and never wait for the writer. */
function openQueries(
  path: string,
  onFatal: (error: FatalStoreError) => void = () => {},
): { queries: QueryOperations; close(): void } {
  const db = openReader(path)
  const { read } = createTransactions(db, onFatal)
  return { queries: guarded(prepareQueries(db), read), close: () => db.close() }
}

type Fact = 'version' | 'ticksInFlight' | 'tickCap'

interface Parts extends Pick<Store, Fact | 'close' | 'expectClock'> {
  readonly call: OperationCall
  readonly queries?: QueryOperations | undefined
  readonly readCall?: QueryCall | undefined
  readonly path: string
  readonly health?: SqliteHealth | undefined
}

function toStore({ call, queries, readCall, path, health, ...facts }: Parts): Store {
  const isFile = path !== IN_MEMORY
  const run = createRunners({ call, queries, readCall, health })
  return {
    kind: 'sqlite',
    location: isFile ? realPath(path) : 'memory',
    ...facts,

    ...createOperations(run),
    inspect: isFile && health ? createInspector(path, health) : async () => {},
    freeBytes: async () => (isFile ? freeBytesAt(path) : null),
    maintain: async (input) => {
      for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
        const isUnfinished = await run.command('maintain', input)
        if (!isUnfinished) return
      }
    },
  }
}

/** Once one connection has met damage, no operation runs on any of them. */
function createRunners({
  call,
  queries,
  readCall,
  health,
}: Pick<Parts, 'call' | 'queries' | 'readCall' | 'health'>): Runners {
  const command: OperationCall = health
    ? async (operation, ...args) => {
        health.require()
        return call(operation, ...args)
      }
    : call
  const lookup: QueryCall = queries
    ? async (operation, ...args) => {
        health?.require()
        return (queries[operation] as (...given: typeof args) => never)(...args)
      }
    : command
  const list: QueryCall = readCall
    ? async (operation, ...args) => {
        health?.require()
        return readCall(operation, ...args)
      }
    : lookup
  return { command, lookup, list }
}
