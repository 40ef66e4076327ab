import type { Store } from '../port.ts'
import { type Call, callInline } from './engine/call.ts'
import { IN_MEMORY, openReader } from './connection/connection.ts'
import { type Engine, type EngineOptions, openEngine } from './engine/prepare-operations.ts'
import { guarded, prepareQueries } from './engine/queries.ts'
import type { FatalStoreError } from './connection/store-errors.ts'
import { startThread } from './threads/thread.ts'
import { createTransactions } from './connection/transaction.ts'
import { QUERIES, type QueryName, type QueryVerbs } from './operations/operations.ts'

export { type Engine, type EngineOptions, openEngine } from './engine/prepare-operations.ts'
export { FatalStoreError, isFatal } from './connection/store-errors.ts'

export interface SqliteOptions extends EngineOptions {
  /** A file, or `:memory:`. */
  readonly path: string
  /** Whether a thread of its own does the writing. The default for files. */
  readonly inThread?: boolean
  readonly tickCap?: number
}

const TICK_CAP = 1_000
/** While the thread writes one tick, the next may already be on its way to it. */
const TICKS_IN_FLIGHT_THREADED = 2
/** Housekeeping in one call: what is left waits for the next. */
const BITES = 100

export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { path, inThread = path !== IN_MEMORY } = options
  return inThread ? openThreaded(options) : openInline(options)
}

/** A store on an engine that others may share: the simulator's nodes, each with its own. */
export function storeOn(engine: Engine, options: { tickCap?: number } = {}): Store {
  const { tickCap = TICK_CAP } = options
  const close = async () => engine.close()
  const call = callInline(engine)
  return toStore({ call, version: engine.version, tickCap, ticksInFlight: 1, close })
}

function openInline(options: SqliteOptions): Store {
  const { path, tickCap = TICK_CAP } = options
  const engine = openEngine(options)
  const reader = path === IN_MEMORY ? undefined : openQueries(path, options.onFatal)
  return toStore({
    call: callInline(engine),
    queries: reader?.queries,
    version: engine.version,
    tickCap,
    ticksInFlight: 1,
    close: async () => {
      if (!engine.failed) reader?.close()
      engine.close()
    },
  })
}

async function openThreaded(options: SqliteOptions): Promise<Store> {
  const { now, onFatal = () => {}, inThread: _, tickCap = TICK_CAP, ...rest } = options
  const thread = await startThread(rest, { now, onFatal })
  const reader = rest.path === IN_MEMORY ? undefined : openQueries(rest.path, onFatal)
  return toStore({
    call: thread.call,
    queries: reader?.queries,
    version: thread.version,
    tickCap,
    ticksInFlight: TICKS_IN_FLIGHT_THREADED,
    close: async () => {
      if (!thread.failed) reader?.close()
      await thread.close()
    },
  })
}

/** Reads see the last commit through a connection of their own, and never wait for the writer. */
function openQueries(
  path: string,
  onFatal: (error: FatalStoreError) => void = () => {},
): { queries: QueryVerbs; close(): void } {
  const db = openReader(path)
  const { read } = createTransactions(db, onFatal)
  return { queries: guarded(prepareQueries(db), read), close: () => db.close() }
}

type Fact = 'version' | 'ticksInFlight' | 'tickCap'

interface Parts extends Pick<Store, Fact | 'close'> {
  readonly call: Call
  readonly queries?: QueryVerbs | undefined
}

function toStore({ call, queries, ...facts }: Parts): Store {
  return {
    kind: 'sqlite',
    ...facts,

    tick: (batch) => call('tick', batch),
    promote: (input) => call('promote', input),
    recheck: (input) => call('recheck', input),
    orphans: (input) => call('orphans', input),
    ownLeases: (input) => call('ownLeases', input),
    cancelMarks: (input) => call('cancelMarks', input),
    findAttempts: (pairs) => call('findAttempts', pairs),

    join: (input) => call('join', input),
    beat: (input) => call('beat', input),
    leave: (input) => call('leave', input),
    buryDead: () => call('buryDead'),
    adopt: (input) => call('adopt', input),
    forgetSession: (input) => call('forgetSession', input),
    loseSession: (input) => call('loseSession', input),
    quarantineSession: (input) => call('quarantineSession', input),
    touchSessions: (sightings) => call('touchSessions', sightings),

    internProjects: (names) => call('internProjects', names),
    findProject: (name) => call('findProject', name),
    findJob: (input) => call('findJob', input),
    internJobs: (jobs) => call('internJobs', jobs),
    internLanes: (specs) => call('internLanes', specs),
    internGates: (gates) => call('internGates', gates),
    lanesAfter: (after) => call('lanesAfter', after),

    appendLog: (chunks) => call('appendLog', chunks),
    putJob: (input) => call('putJob', input),
    deleteJob: (input) => call('deleteJob', input),
    pauseJob: (input) => call('pauseJob', input),
    putQueue: (input) => call('putQueue', input),
    createToken: (input) => call('createToken', input),
    revokeToken: (input) => call('revokeToken', input),
    touchTokens: (uses) => call('touchTokens', uses),
    putWebhook: (input) => call('putWebhook', input),
    rotateWebhook: (input) => call('rotateWebhook', input),
    deleteWebhook: (input) => call('deleteWebhook', input),
    expandOutbox: (events) => call('expandOutbox', events),
    addDelivery: (input) => call('addDelivery', input),
    claimDeliveries: (input) => call('claimDeliveries', input),
    settleDelivery: (input) => call('settleDelivery', input),
    redeliver: (input) => call('redeliver', input),
    pruneDeliveries: (input) => call('pruneDeliveries', input),
    putSecret: (input) => call('putSecret', input),
    removeSecret: (input) => call('removeSecret', input),
    resealSecrets: (input) => call('resealSecrets', input),
    forgetUnusedKeys: (input) => call('forgetUnusedKeys', input),
    announceKeys: (input) => call('announceKeys', input),
    putSchedule: (input) => call('putSchedule', input),
    pauseSchedule: (input) => call('pauseSchedule', input),
    resumeSchedule: (input) => call('resumeSchedule', input),
    skipNext: (input) => call('skipNext', input),
    deleteSchedule: (input) => call('deleteSchedule', input),
    failSchedule: (input) => call('failSchedule', input),
    fire: (batch) => call('fire', batch),
    settleExpectations: (seen) => call('settleExpectations', seen),
    pruneOccurrences: (input) => call('pruneOccurrences', input),
    addBackfill: (input) => call('addBackfill', input),
    moveBackfill: (move) => call('moveBackfill', move),
    cancelBackfill: (input) => call('cancelBackfill', input),
    beginFlows: (input) => call('beginFlows', input),
    advanceFlows: (batch) => call('advanceFlows', batch),
    settleFollowUps: (input) => call('settleFollowUps', input),
    restlessFlows: (input) => call('restlessFlows', input),

    putBlob: (input) => call('putBlob', input),
    deleteBlobs: (keys) => call('deleteBlobs', keys),
    listBlobs: (input) => call('listBlobs', input),

    ping: () => call('ping'),
    prune: (input) => call('prune', input),
    maintain: async () => {
      for (let bite = 0; bite < BITES && (await call('maintain')); bite += 1);
    },

    ...queriesOf(call, queries),
  }
}

/** From a connection of their own where there is one; otherwise they take their turn. */
function queriesOf(call: Call, local: QueryVerbs | undefined): Pick<Store, QueryName> {
  const pass = (name: QueryName) => {
    const verb = local?.[name] as ((...args: unknown[]) => unknown) | undefined
    const ask = call as (name: QueryName, ...args: unknown[]) => Promise<unknown>
    return [name, async (...args: unknown[]) => (verb ? verb(...args) : ask(name, ...args))]
  }
  return Object.fromEntries(QUERIES.map(pass)) as Pick<Store, QueryName>
}
