import type { Database } from 'better-sqlite3'
import { leftMs } from '../../fire-ahead.ts'
import { prepareGates } from '../gates/admit.ts'
import { prepareAppendLog } from '../logs/logs.ts'
import { prepareAudit } from '../audit/audit.ts'
import { prepareBackfills } from '../backfills/backfills.ts'
import { prepareBlobs } from '../blobs/blobs.ts'
import { prepareCatalog } from '../catalog/catalog.ts'
import { prepareDefinitions } from '../definitions/definitions.ts'
import { prepareFire } from '../schedules/fire.ts'
import { prepareFlows } from '../workflows/workflows.ts'
import { prepareSettleFollowUps } from '../followers/settle-follow-ups.ts'
import { prepareFollowers } from '../followers/followers.ts'
import { preparePruneOccurrences } from '../maintenance/prune-occurrences.ts'
import { prepareSchedules } from '../schedules/schedules.ts'
import { preparePutQueue } from '../queues/queues.ts'
import { prepareSecrets } from '../secrets/secrets.ts'
import { prepareTokens } from '../tokens/tokens.ts'
import { prepareDeliveries } from '../webhooks/deliveries.ts'
import { prepareExpandOutbox } from '../webhooks/outbox.ts'
import { prepareWebhooks } from '../webhooks/webhooks.ts'
import { type Checkpoints, createCheckpoints } from '../files/checkpoint.ts'
import { IN_MEMORY } from '../connection/connection.ts'
import { prepareEndings } from '../ticks/end.ts'
import type { FatalStoreError } from '../connection/store-errors.ts'
import { prepareKeys } from '../ticks/submit-keys.ts'
import { prepareSettleExpectations } from '../expectations/expectations.ts'
import { prepareLeases } from '../leases/leases.ts'
import { prepareNeeds } from '../ticks/needs.ts'
import { prepareNodes } from '../nodes/nodes.ts'
import { openDatabase, type OpenOptions } from '../files/open-database.ts'
import { preparePromote } from '../sweeps/promote.ts'
import { preparePrune } from '../maintenance/prune.ts'
import { guarded, prepareQueries } from './queries.ts'
import { prepareRecheck } from '../sweeps/recheck.ts'
import { prepareSessions } from '../sessions/sessions.ts'
import { systemNow } from '../connection/system-clock.ts'
import type { Holding } from '../tick-state/tick-state.ts'
import { prepareTick } from '../ticks/tick.ts'
import { createTransactions, type Transactions } from '../connection/transaction.ts'
import { prepareMaintain } from '../maintenance/maintain.ts'
import type { Verbs } from '../operations/operations.ts'

export interface EngineOptions extends OpenOptions {
  /** Wall time, for rows and timers. */
  readonly now?: () => number
  /** The disk failed; nothing is answered any more and the process should go. Called once. */
  readonly onFatal?: (error: FatalStoreError) => void
}

/** The store itself, answering at once in the thread it is called in. */
export interface Engine {
  readonly verbs: Verbs
  /** `SQLite 3.53.4` */
  readonly version: string
  /** The connection under it, for the simulator and for tests that look or plant by hand. */
  readonly raw: Database
  /** The disk failed: see `onFatal`. */
  readonly failed: boolean
  /** What can wait until an answer is out. Never throws. */
  settle(): void
  close(): void
}

export function openEngine(options: EngineOptions): Engine {
  const { path, exclusive = true, now = systemNow, onFatal = () => {} } = options
  const { db, version, close } = openDatabase({ ...options, exclusive })
  const transactions = createTransactions(db, onFatal)
  const checkpoints = path === IN_MEMORY ? undefined : createCheckpoints(db)
  let closed = false
  return {
    verbs: prepareVerbs(db, { transactions, checkpoints, exclusive, now }),
    version: `SQLite ${version}`,
    raw: db,
    get failed() {
      return transactions.failed
    },
    settle() {
      if (checkpoints && !transactions.failed) quietly(transactions, () => checkpoints.whenDue())
    },
    close() {
      if (closed) return
      closed = true
      // Closing would checkpoint, and that is one more fsync: leave a failed disk to the next start.
      if (!transactions.failed) close()
    },
  }
}

interface Parts {
  readonly transactions: Transactions
  readonly checkpoints: Checkpoints | undefined
  readonly exclusive: boolean
  readonly now: () => number
}

function prepareVerbs(db: Database, parts: Parts): Verbs {
  const { transactions, checkpoints, exclusive, now } = parts
  const { read, write, writeInBulk } = transactions
  const gates = prepareGates(db)
  const keys = prepareKeys(db)
  const needs = prepareNeeds(db, keys)
  const endings = prepareEndings(db, gates, keys)
  const holding: Holding = new Map()
  const tick = prepareTick(db, { gates, keys, needs, endings, holding })
  const promote = preparePromote(db, gates)
  const recheck = prepareRecheck(db, { gates, needs })
  const leases = prepareLeases(db, endings)
  const nodes = prepareNodes(db, exclusive)
  const sessions = prepareSessions(db)
  const catalog = prepareCatalog(db)
  const queries = guarded(prepareQueries(db), read)
  const audit = prepareAudit(db)
  const schedules = prepareSchedules(db, audit)
  const followers = prepareFollowers(db, catalog)
  const definitions = prepareDefinitions(db, { catalog, audit, schedules, followers })
  const fire = prepareFire(db, { gates, keys, needs, holding })
  const backfills = prepareBackfills(db, { gates, keys, needs, audit })
  const settleExpectations = prepareSettleExpectations(db)
  const flows = prepareFlows(db, { gates, keys, needs, audit })
  const settleFollowUps = prepareSettleFollowUps(db, { gates, keys, needs })
  const pruneOccurrences = preparePruneOccurrences(db)
  const putQueue = preparePutQueue(db, audit)
  const tokens = prepareTokens(db, audit)
  const webhooks = prepareWebhooks(db, audit)
  const deliveries = prepareDeliveries(db, { audit, webhooks })
  const expandOutbox = prepareExpandOutbox(db)
  const secrets = prepareSecrets(db, audit)
  const appendLog = prepareAppendLog(db)
  const blobs = prepareBlobs(db)
  const prune = preparePrune(db)
  const maintain = prepareMaintain(db)
  const ping = db.prepare('SELECT 1 FROM meta LIMIT 1')
  const totalChanges = db.prepare<[], number>('SELECT total_changes()').pluck()
  let changesAtLastMaintain = -1

  return {
    tick: (batch) =>
      writeInBulk(
        () => tick(batch, now(), true),
        () => tick(batch, now(), false),
      ),
    promote: (input) => write(() => promote(input, now())),
    recheck: (input) => write(() => recheck(input, now())),
    orphans: (input) => read(() => leases.orphans(input, now())),
    ownLeases: (input) => read(() => leases.ownLeases(input)),
    cancelMarks: (input) => read(() => leases.cancelMarks(input)),
    findAttempts: (pairs) => read(() => leases.findAttempts(pairs)),

    join: (input) => write(() => nodes.join(input, now())),
    beat: (input) => write(() => nodes.beat(input, now())),
    leave: (input) => write(() => nodes.leave(input, now())),
    buryDead: () => write(() => nodes.buryDead(now())),
    adopt: (input) => write(() => sessions.adopt(input, now())),
    forgetSession: (input) => write(() => sessions.forgetSession(input)),
    loseSession: (input) => write(() => sessions.loseSession(input)),
    quarantineSession: (input) => write(() => sessions.quarantineSession(input)),
    touchSessions: (sightings) => write(() => sessions.touchSessions(sightings)),

    findProject: (name) => read(() => catalog.findProject(name)),
    findJob: (input) => read(() => catalog.findJob(input)),
    internProjects: (names) => write(() => catalog.internProjects(names)),
    internJobs: (jobs) => write(() => catalog.internJobs(jobs)),
    internLanes: (specs) => write(() => catalog.internLanes(specs)),
    internGates: (wanted) => write(() => catalog.internGates(wanted)),
    lanesAfter: (after) => read(() => catalog.lanesAfter(after)),

    appendLog: (chunks) => write(() => appendLog(chunks)),
    putJob: (input) => write(() => definitions.putJob(input, now())),
    deleteJob: (input) => write(() => definitions.deleteJob(input, now())),
    pauseJob: (input) => write(() => definitions.pauseJob(input, now())),
    putQueue: (input) => write(() => putQueue(input, now())),
    createToken: (input) => write(() => tokens.createToken(input, now())),
    revokeToken: (input) => write(() => tokens.revokeToken(input, now())),
    touchTokens: (uses) => write(() => tokens.touchTokens(uses)),
    putBlob: (input) => write(() => blobs.putBlob(input, now())),
    deleteBlobs: (keys) => write(() => blobs.deleteBlobs(keys)),
    listBlobs: (input) => read(() => blobs.listBlobs(input, now())),
    putWebhook: (input) => write(() => webhooks.putWebhook(input, now())),
    rotateWebhook: (input) => write(() => webhooks.rotateWebhook(input, now())),
    deleteWebhook: (input) => write(() => webhooks.deleteWebhook(input, now())),
    expandOutbox: (events) => write(() => expandOutbox(events, now())),
    addDelivery: (input) => write(() => deliveries.addDelivery(input, now())),
    claimDeliveries: (input) => write(() => deliveries.claimDeliveries(input, now())),
    settleDelivery: (input) => write(() => deliveries.settleDelivery(input, now())),
    redeliver: (input) => write(() => deliveries.redeliver(input, now())),
    pruneDeliveries: (input) => write(() => deliveries.pruneDeliveries(input)),
    putSecret: (input) => write(() => secrets.putSecret(input, now())),
    removeSecret: (input) => write(() => secrets.removeSecret(input, now())),
    resealSecrets: (input) => write(() => secrets.resealSecrets(input, now())),
    forgetUnusedKeys: (input) => write(() => secrets.forgetUnusedKeys(input)),
    announceKeys: (input) => write(() => secrets.announceKeys(input)),
    putSchedule: (input) => write(() => schedules.putSchedule(input, now())),
    pauseSchedule: (input) => write(() => schedules.pauseSchedule(input, now())),
    resumeSchedule: (input) => write(() => schedules.resumeSchedule(input, now())),
    skipNext: (input) => write(() => schedules.skipNext(input, now())),
    deleteSchedule: (input) => write(() => schedules.deleteSchedule(input, now())),
    failSchedule: (input) => write(() => schedules.failSchedule(input)),
    fire(batch) {
      const fired = writeInBulk(
        () => fire(batch, now(), true),
        () => fire(batch, now(), false),
      )
      // How long it is still to go is asked when it is durable: whoever counts from there is never early.
      return { ...fired, aheadMs: leftMs(fired, now()) }
    },
    settleExpectations: (seen) => write(() => settleExpectations(seen, now())),
    pruneOccurrences: (input) => write(() => pruneOccurrences(input)),
    addBackfill: (input) => write(() => backfills.addBackfill(input, now())),
    moveBackfill: (move) => write(() => backfills.moveBackfill(move, now())),
    cancelBackfill: (input) => write(() => backfills.cancelBackfill(input, now())),
    beginFlows: (input) => write(() => flows.beginFlows(input, now())),
    advanceFlows: (batch) => write(() => flows.advanceFlows(batch, now())),
    settleFollowUps: (input) => write(() => settleFollowUps(input, now())),
    restlessFlows: (input) => read(() => flows.restlessFlows(input, now())),
    ...queries,

    ping: () => read(() => void ping.get()),
    prune: (input) => write(() => prune(input)),
    maintain() {
      if (write(() => maintain(now()))) return true
      const changes = totalChanges.get() ?? 0
      if (changes === changesAtLastMaintain) {
        quietly(transactions, () => checkpoints?.whenIdle())
        db.pragma('shrink_memory')
      }
      changesAtLastMaintain = changes
      return false
    },
  }
}

/** A checkpoint that fails for lack of room is tried again; a disk that fails is reported by itself. */
function quietly({ read }: Transactions, work: () => void): void {
  try {
    read(work)
  } catch {
    // Nothing was asked for, so there is nobody to tell.
  }
}
