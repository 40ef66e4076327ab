import type { Database } from 'better-sqlite3'
import { CLOCK_TOLERANCE_MS } from '../../../core/trusted-clock.ts'
import { remainingMs, outdatedResult } from '../../fire-ahead.ts'
import { type Gates, prepareGates } from '../gates/admit.ts'
import { prepareAppendLog } from '../logs/logs.ts'
import { type Audit, prepareAudit } from '../audit/audit.ts'
import { prepareBackfills } from '../backfills/backfills.ts'
import { prepareBlobs } from '../blobs/blobs.ts'
import { prepareCatalog } from '../catalog/catalog.ts'
import { prepareDefinitions } from '../definitions/definitions.ts'
import { prepareFire } from '../schedules/fire.ts'
import { prepareWorkflows } from '../workflows/workflows.ts'
import { prepareSettleFollowUps } from '../followers/settle-follow-ups.ts'
import { prepareFollowers } from '../followers/followers.ts'
import { preparePruneOccurrences } from '../maintenance/prune-occurrences.ts'
import { prepareSchedules, type ScheduleChanges } from '../schedules/schedules.ts'
import { preparePutQueue } from '../queues/queues.ts'
import { prepareSecrets } from '../secrets/secrets.ts'
import { prepareTokens } from '../tokens/tokens.ts'
import { prepareDeliveries } from '../webhooks/deliveries.ts'
import { prepareExpandOutbox } from '../webhooks/outbox.ts'
import { prepareWebhooks } from '../webhooks/webhooks.ts'
import { type Checkpoints } from '../files/checkpoint.ts'
import { prepareAttemptEnds } from '../ticks/end.ts'
import { type Keys, prepareKeys } from '../ticks/submit-keys.ts'
import { prepareSettleExpectations } from '../expectations/expectations.ts'
import { prepareLeases } from '../leases/leases.ts'
import { type Needs, prepareNeeds } from '../ticks/needs.ts'
import { prepareNodes } from '../nodes/nodes.ts'
import { preparePromote } from '../sweeps/promote.ts'
import { preparePrune } from '../maintenance/prune.ts'
import { guarded, prepareQueries, type QueryName } from './queries.ts'
import { prepareRecheck } from '../sweeps/recheck.ts'
import { prepareRewind } from '../schedules/rewind.ts'
import { prepareSessions } from '../sessions/sessions.ts'
import type { GatedRuns } from '../tick-state/tick-state.ts'
import { prepareTick } from '../ticks/tick.ts'
import { type Transactions } from '../connection/transaction.ts'
import { prepareMaintenance } from '../maintenance/maintain.ts'
import type { OperationName, Operations } from './engine-operations.ts'
import type {
  BackfillStore,
  BlobRows,
  CatalogStore,
  DeliveryStore,
  ExpectationStore,
  FollowStore,
  JobStore,
  LogStore,
  MaintenanceStore,
  NodeStore,
  OutboxStore,
  QueueStore,
  ScheduleStore,
  SecretStore,
  SweepStore,
  TickStore,
  TokenStore,
  WebhookStore,
  WorkflowStore,
} from '../../port.ts'

const PROBE = `
  INSERT INTO meta (key, value) VALUES ('probe', ?)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value`

export interface EngineParts {
  readonly transactions: Transactions
  readonly checkpoints: Checkpoints | undefined
  readonly exclusive: boolean
  /** The time statements act by, and the time of the wall clock. */
  readonly now: () => number
  readonly wall: () => number
}

/** What the operations of several subsystems need. */
interface Shared extends EngineParts, Pick<Transactions, 'read' | 'write' | 'writeInBulk'> {
  readonly db: Database
  readonly gates: Gates
  readonly keys: Keys
  readonly needs: Needs
  readonly gatedRuns: GatedRuns
  readonly audit: Audit
  readonly schedules: ScheduleChanges
  /** The clock has jumped, whether the node has noticed or not. */
  isOff(): boolean
}

/** The operations of a port that use the writing connection. */
type CommandsOf<Port> = Pick<Operations, Exclude<Extract<keyof Port, OperationName>, QueryName>>

/** Prepares the statements of every operation on the writing connection. */
export function prepareOperations(db: Database, parts: EngineParts): Operations {
  const { now, wall } = parts
  const { read, write, writeInBulk } = parts.transactions
  const keys = prepareKeys(db)
  const audit = prepareAudit(db)
  const shared: Shared = {
    ...parts,
    db,
    read,
    write,
    writeInBulk,
    gates: prepareGates(db),
    keys,
    needs: prepareNeeds(db, keys),
    gatedRuns: new Map(),
    audit,
    schedules: prepareSchedules(db, audit),
    isOff: () => Math.abs(wall() - now()) > CLOCK_TOLERANCE_MS,
  }
  return {
    ...runCommands(shared),
    ...nodeCommands(shared),
    ...jobCommands(shared),
    ...accessCommands(shared),
    ...scheduleCommands(shared),
    ...workflowCommands(shared),
    ...webhookCommands(shared),
    ...maintenanceCommands(shared),
    ...guarded(prepareQueries(db), read),
  }
}

/** The life of runs, and their logs. */
function runCommands(shared: Shared): CommandsOf<TickStore & SweepStore & LogStore> {
  const { db, gates, keys, needs, gatedRuns, read, write, writeInBulk, now, isOff } = shared
  const endings = prepareAttemptEnds(db, gates, keys)
  const tick = prepareTick(db, { gates, keys, needs, endings, gatedRuns })
  const promote = preparePromote(db, gates)
  const recheck = prepareRecheck(db, { gates, needs })
  const leases = prepareLeases(db, endings)
  const appendLog = prepareAppendLog(db)

  return {
    tick: (batch) =>
      writeInBulk(
        () => tick(batch, now(), true),
        () => tick(batch, now(), false),
      ),
    promote(input) {
      if (isOff() && !input.isClockOff) return { promoted: 0, lanes: [], nextDueAt: null }
      return write(() => promote(input, now()))
    },
    recheck: (input) => write(() => recheck(input, now())),
    orphans: (input) => read(() => leases.orphans(input, now())),
    ownLeases: (input) => read(() => leases.ownLeases(input)),
    cancelMarks: (input) => read(() => leases.cancelMarks(input)),
    findAttempts: (pairs) => read(() => leases.findAttempts(pairs)),
    appendLog: (chunks) => write(() => appendLog(chunks)),
  }
}

/** Nodes, the sessions of workers, and their clocks. */
function nodeCommands(shared: Shared): CommandsOf<NodeStore> {
  const { db, read, write, now, wall, exclusive } = shared
  const nodes = prepareNodes(db, exclusive)
  const sessions = prepareSessions(db)

  return {
    join: (input) => write(() => nodes.join(input, now(), wall())),
    heartbeat: (input) => write(() => nodes.heartbeat(input, now(), wall())),
    leave: (input) => write(() => nodes.leave(input, now())),
    declareDeadNodes: () => write(() => nodes.declareDeadNodes(now())),
    openSession: (input) => write(() => sessions.openSession(input, now())),
    changeSlot: (input) => write(() => nodes.changeSlot(input, now())),
    clockFacts: () => read(() => nodes.clockFacts(wall())),
    recordClock: (input) => write(() => nodes.recordClock(input)),
    adopt: (input) => write(() => sessions.adopt(input, now())),
    forgetSession: (input) => write(() => sessions.forgetSession(input)),
    markSessionLost: (input) => write(() => sessions.markSessionLost(input)),
    quarantineSession: (input) => write(() => sessions.quarantineSession(input)),
    touchSessions: (lastSeen) => write(() => sessions.touchSessions(lastSeen)),
  }
}

/** Jobs, the names that rows refer to, and queues. */
function jobCommands(shared: Shared): CommandsOf<CatalogStore & JobStore & QueueStore> {
  const { db, read, write, now, audit, schedules } = shared
  const catalog = prepareCatalog(db)
  const followers = prepareFollowers(db, catalog)
  const definitions = prepareDefinitions(db, { catalog, audit, schedules, followers })
  const putQueue = preparePutQueue(db, audit)

  return {
    findProject: (name) => read(() => catalog.findProject(name)),
    findJob: (input) => read(() => catalog.findJob(input)),
    internProjects: (names) => write(() => catalog.internProjects(names)),
    internJobs: (jobs) => write(() => catalog.internJobs(jobs)),
    internLanes: (specs) => write(() => catalog.internLanes(specs)),
    internGates: (wanted) => write(() => catalog.internGates(wanted)),
    lanesAfter: (after) => read(() => catalog.lanesAfter(after)),
    putJob: (input) => write(() => definitions.putJob(input, now())),
    deleteJob: (input) => write(() => definitions.deleteJob(input, now())),
    pauseJob: (input) => write(() => definitions.pauseJob(input, now())),
    putQueue: (input) => write(() => putQueue(input, now())),
  }
}

/** Tokens and secrets. */
function accessCommands(shared: Shared): CommandsOf<TokenStore & SecretStore> {
  const { db, write, now, audit } = shared
  const tokens = prepareTokens(db, audit)
  const secrets = prepareSecrets(db, audit)

  return {
    createToken: (input) => write(() => tokens.createToken(input, now())),
    expireTokens: () => write(() => tokens.expireTokens(now())),
    revokeToken: (input) => write(() => tokens.revokeToken(input, now())),
    touchTokens: (uses) => write(() => tokens.touchTokens(uses)),
    putSecret: (input) => write(() => secrets.putSecret(input, now())),
    removeSecret: (input) => write(() => secrets.removeSecret(input, now())),
    resealSecrets: (input) => write(() => secrets.resealSecrets(input, now())),
    forgetUnusedKeys: (input) => write(() => secrets.forgetUnusedKeys(input)),
    announceKeys: (input) => write(() => secrets.announceKeys(input)),
  }
}

/** Schedules, backfills and expectations. */
function scheduleCommands(
  shared: Shared,
): CommandsOf<ScheduleStore & BackfillStore & ExpectationStore> {
  const { db, gates, keys, needs, gatedRuns, audit, schedules } = shared
  const { read, write, writeInBulk, now, wall, isOff } = shared
  const rewinding = prepareRewind(db)
  const fire = prepareFire(db, { gates, keys, needs, gatedRuns })
  const backfills = prepareBackfills(db, { gates, keys, needs, audit })
  const settleExpectations = prepareSettleExpectations(db)
  const pruneOccurrences = preparePruneOccurrences(db)

  return {
    putSchedule: (input) => write(() => schedules.putSchedule(input, now())),
    pauseSchedule: (input) => write(() => schedules.pauseSchedule(input, now())),
    resumeSchedule: (input) => write(() => schedules.resumeSchedule(input, now())),
    skipNext: (input) => write(() => schedules.skipNext(input, now())),
    deleteSchedule: (input) => write(() => schedules.deleteSchedule(input, now())),
    failSchedule: (input) => write(() => schedules.failSchedule(input)),
    schedulesAhead: (input) => read(() => rewinding.schedulesAhead(input, now())),
    rewindSchedules: (commands, at) => write(() => rewinding.rewindSchedules(commands, at)),
    rewindTimers: () => write(() => rewinding.rewindTimers(now())),
    fire(batch) {
      const clock = batch.isClockOff ? now : wall
      if (isOff() && !batch.isClockOff) return outdatedResult(batch, clock())
      const fired = writeInBulk(
        () => fire(batch, clock(), true),
        () => fire(batch, clock(), false),
      )
      // The remaining time is read after the commit: a node that counts from there is never early.
      return { ...fired, aheadMs: remainingMs(fired, clock()) }
    },
    pruneOccurrences: (input) => write(() => pruneOccurrences(input)),
    settleExpectations: (seen) => write(() => settleExpectations(seen, now())),
    addBackfill: (input) => write(() => backfills.addBackfill(input, now())),
    advanceBackfill: (move) => write(() => backfills.advanceBackfill(move, now())),
    cancelBackfill: (input) => write(() => backfills.cancelBackfill(input, now())),
  }
}

/** Workflows and jobs that follow others. */
function workflowCommands(shared: Shared): CommandsOf<WorkflowStore & FollowStore> {
  const { db, gates, keys, needs, audit, read, write, now } = shared
  const workflows = prepareWorkflows(db, { gates, keys, needs, audit })
  const settleFollowUps = prepareSettleFollowUps(db, { gates, keys, needs })

  return {
    beginWorkflows: (input) => write(() => workflows.beginWorkflows(input, now())),
    advanceWorkflows: (batch) => write(() => workflows.advanceWorkflows(batch, now())),
    dirtyWorkflows: (input) => read(() => workflows.dirtyWorkflows(input, now())),
    settleFollowUps: (input) => write(() => settleFollowUps(input, now())),
  }
}

/** Webhooks, their outbox and deliveries. */
function webhookCommands(shared: Shared): CommandsOf<WebhookStore & OutboxStore & DeliveryStore> {
  const { db, write, now, audit } = shared
  const webhooks = prepareWebhooks(db, audit)
  const deliveries = prepareDeliveries(db, { audit, webhooks })
  const expandOutbox = prepareExpandOutbox(db)

  return {
    putWebhook: (input) => write(() => webhooks.putWebhook(input, now())),
    rotateWebhook: (input) => write(() => webhooks.rotateWebhook(input, now())),
    deleteWebhook: (input) => write(() => webhooks.deleteWebhook(input, now())),
    expandOutbox: (events) => write(() => expandOutbox(events, now())),
    addDelivery: (input) => write(() => deliveries.addDelivery(input, now())),
    claimDeliveries: (input) => write(() => deliveries.claimDeliveries(input, now())),
    settleDelivery: (input) => write(() => deliveries.settleDelivery(input, now())),
    redeliver: (input) => write(() => deliveries.redeliver(input, now())),
    pruneDeliveries: (input) => write(() => deliveries.pruneDeliveries(input)),
  }
}

/** Health, pruning, and blobs. */
function maintenanceCommands(shared: Shared): CommandsOf<BlobRows & MaintenanceStore> {
  const { db, transactions, checkpoints, read, write, now } = shared
  const blobs = prepareBlobs(db)
  const prune = preparePrune(db)
  const maintain = prepareMaintenance(db)
  const ping = db.prepare('SELECT 1 FROM meta LIMIT 1')
  const probe = db.prepare(PROBE)
  const totalChanges = db.prepare<[], number>('SELECT total_changes()').pluck()
  let changesAtLastMaintain = -1

  return {
    putBlob: (input) => write(() => blobs.putBlob(input, now())),
    deleteBlobs: (keys) => write(() => blobs.deleteBlobs(keys)),
    listBlobs: (input) => read(() => blobs.listBlobs(input, now())),
    ping: () => read(() => void ping.get()),
    probe: () => write(() => void probe.run(now())),
    prune: (input) => write(() => prune(input)),
    maintain({ mayDelete }) {
      if (write(() => maintain(now(), mayDelete))) return true
      const changes = totalChanges.get() ?? 0
      if (changes === changesAtLastMaintain) {
        ignoringErrors(transactions, () => checkpoints?.whenIdle())
        db.pragma('shrink_memory')
      }
      changesAtLastMaintain = changes
      return false
    },
  }
}

/**
 * A checkpoint that fails for lack of space is tried again; a failing disk is reported elsewhere.
 */
export function ignoringErrors({ read }: Transactions, work: () => void): void {
  try {
    read(work)
  } catch {
    // No caller waits for this, so there is no one to report the error to.
  }
}
