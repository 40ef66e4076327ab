import { StoreError, type Store } from '../port.ts'
import { listAudit } from './audit/audit.ts'
import * as blobs from './blobs/blobs.ts'
import * as backfills from './backfills/backfills.ts'
import { beginFlows } from './workflows/begin-workflows.ts'
import * as catalog from './catalog/catalog.ts'
import { Connection } from './connection/connection.ts'
import type { Database } from './database/database.ts'
import * as definitions from './definitions/definitions.ts'
import * as deliveries from './webhooks/deliveries.ts'
import { internGates } from './gates/intern-gates.ts'
import { fire } from './schedules/fire.ts'
import * as flowQueries from './workflows/workflow-queries.ts'
import * as flows from './workflows/workflows.ts'
import * as followQueries from './followers/follow-up-queries.ts'
import { settleFollowUps } from './followers/settle-follow-ups.ts'
import { jobsOfHook } from './definitions/hooks.ts'
import type { Role, ServerFacts } from './connection/set-up-connection.ts'
import { laneHeads } from './queues/lane-heads.ts'
import * as lapses from './expectations/expectations.ts'
import * as leases from './leases/leases.ts'
import * as logs from './logs/logs.ts'
import { maintain } from './maintenance/maintain.ts'
import { migrate } from './migrations/migrate.ts'
import * as nodes from './nodes/nodes.ts'
import * as numberedJobs from './definitions/numbered-jobs.ts'
import * as outbox from './webhooks/outbox.ts'
import { promote } from './sweeps/promote.ts'
import { prune } from './maintenance/prune.ts'
import { pruneOccurrences } from './maintenance/prune-occurrences.ts'
import * as queues from './queues/queues.ts'
import { recheck } from './sweeps/recheck.ts'
import * as queries from './runs/run-queries.ts'
import * as scheduleQueries from './schedules/schedule-queries.ts'
import * as schedules from './schedules/schedules.ts'
import * as secrets from './secrets/secrets.ts'
import * as sessions from './sessions/sessions.ts'
import * as tokens from './tokens/tokens.ts'
import { createTicker } from './ticks/tick.ts'
import { read } from './connection/transaction.ts'
import { waitOf } from './runs/waiting.ts'
import { WeekBook } from './partitions/partition-registry.ts'
import * as webhooks from './webhooks/webhooks.ts'

export interface PostgresOptions {
  readonly url: string
  /** Only for tests: stands in for the database's clock. */
  readonly now?: () => number
  readonly schema?: string
  /** The store cannot go on: the address leads to another database than before. */
  readonly onFatal?: (error: Error) => void
  readonly onWarn?: (message: string) => void
}

const ROLES: readonly Role[] = ['hot', 'hot', 'duty', 'reading']
const PING = { name: 'ping', text: 'SELECT 1' }

/** Opens the store and brings its schema up to date. Any number of nodes may do so at once. */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const { url, schema = 'punctual', onWarn = () => {} } = options
  const watch = watchIdentity(options)
  const connections: Connection[] = []
  try {
    for (const role of ROLES) {
      // One warning per start is enough; the four connections all see the same settings.
      const warn = role === 'duty' ? onWarn : () => {}
      connections.push(
        await Connection.open({ url, role, schema, onWarn: warn, onGreeted: watch.greet }),
      )
    }
    const [first, second, duty, reading] = connections as [
      Connection,
      Connection,
      Connection,
      Connection,
    ]
    const now = () => options.now?.() ?? null
    await migrate(duty, { schema, nowMs: now() })
    const weeks = new WeekBook(duty)
    const db: Database = { hot: [first, second], duty, reading, weeks, now, onWarn }
    await weeks.refresh()
    await maintain(db)
    return createStore(db, watch.version(), connections)
  } catch (error) {
    await Promise.all(connections.map((connection) => connection.close()))
    throw error
  }
}

function createStore(db: Database, version: string, connections: readonly Connection[]): Store {
  return {
    kind: 'postgres',
    version,
    ticksInFlight: db.hot.length,
    tickCap: 500,
    tick: createTicker(db),

    promote: (input) => promote(db, input),
    recheck: (input) => recheck(db, input),
    laneHeads: (input) => laneHeads(db, input),
    orphans: (input) => leases.orphans(db, input),
    ownLeases: (input) => leases.ownLeases(db, input),
    cancelMarks: (input) => leases.cancelMarks(db, input),
    findAttempts: (pairs) => leases.findAttempts(db, pairs),

    join: (input) => nodes.join(db, input),
    beat: (input) => nodes.beat(db, input),
    leave: (input) => nodes.leave(db, input),
    buryDead: () => nodes.buryDead(db),
    adopt: (input) => sessions.adopt(db, input),
    forgetSession: (input) => sessions.forgetSession(db, input),
    loseSession: (input) => sessions.loseSession(db, input),
    quarantineSession: (input) => sessions.quarantineSession(db, input),
    touchSessions: (sightings) => sessions.touchSessions(db, sightings),
    listSessions: () => sessions.listSessions(db),
    recallSession: (input) => sessions.recallSession(db, input),
    countNodes: () => sessions.countNodes(db),

    internProjects: (names) => catalog.internProjects(db, names),
    findProject: (name) => catalog.findProject(db, name),
    findJob: (input) => catalog.findJob(db, input),
    internJobs: (jobs) => catalog.internJobs(db, jobs),
    internLanes: (specs) => catalog.internLanes(db, specs),
    internGates: (gates) => internGates(db, gates),
    lanesAfter: (after) => catalog.lanesAfter(db, after),
    jobNames: (ids) => catalog.namesOf(db, 'job', ids),
    projectNames: (ids) => catalog.namesOf(db, 'project', ids),

    findRun: (input) => queries.findRun(db, input),
    findRuns: (input) => queries.findRuns(db, input),
    attemptsOf: (input) => queries.attemptsOf(db, input),
    listRuns: (filter) => queries.listRuns(db, filter),
    waitOf: (input) => waitOf(db, input),
    liveCounts: () => queries.liveCounts(db),

    appendLog: (chunks) => logs.appendLog(db, chunks),
    logChunks: (input) => logs.logChunks(db, input),
    logEnd: (input) => logs.logEnd(db, input),
    findLine: (input) => logs.findLine(db, input),
    chunksLike: (input) => logs.chunksLike(db, input),

    putJob: (input) => definitions.putJob(db, input),
    deleteJob: (input) => definitions.deleteJob(db, input),
    pauseJob: (input) => definitions.pauseJob(db, input),
    jobsOfHook: (input) => jobsOfHook(db, input),
    findDefinition: (input) => definitions.findDefinition(db, input),
    listDefinitions: (input) => definitions.listDefinitions(db, input),
    jobVersions: (input) => definitions.jobVersions(db, input),
    definitionsOf: (keys) => definitions.definitionsOf(db, keys),
    findNumberedJob: (input) => numberedJobs.findNumberedJob(db, input),
    listNumberedJobs: (input) => numberedJobs.listNumberedJobs(db, input),
    listOwnedJobs: (input) => numberedJobs.listOwnedJobs(db, input),

    putQueue: (input) => queues.putQueue(db, input),
    listQueues: () => queues.listQueues(db),
    laneDepths: () => queues.laneDepths(db),

    createToken: (input) => tokens.createToken(db, input),
    findToken: (hash) => tokens.findToken(db, hash),
    listTokens: (input) => tokens.listTokens(db, input),
    revokeToken: (input) => tokens.revokeToken(db, input),
    touchTokens: (uses) => tokens.touchTokens(db, uses),
    putSecret: (input) => secrets.putSecret(db, input),
    removeSecret: (input) => secrets.removeSecret(db, input),
    listSecrets: (input) => secrets.listSecrets(db, input),
    findSecrets: (keys) => secrets.findSecrets(db, keys),
    secretsWithoutKey: (input) => secrets.secretsWithoutKey(db, input),
    resealSecrets: (input) => secrets.resealSecrets(db, input),
    secretKeys: () => secrets.secretKeys(db),
    forgetUnusedKeys: (input) => secrets.forgetUnusedKeys(db, input),
    announceKeys: (input) => secrets.announceKeys(db, input),
    nodesWithoutKey: (input) => secrets.nodesWithoutKey(db, input),
    listAudit: (input) => listAudit(db, input),

    putSchedule: (input) => schedules.putSchedule(db, input),
    pauseSchedule: (input) => schedules.pauseSchedule(db, input),
    resumeSchedule: (input) => schedules.resumeSchedule(db, input),
    skipNext: (input) => schedules.skipNext(db, input),
    deleteSchedule: (input) => schedules.deleteSchedule(db, input),
    failSchedule: (input) => schedules.failSchedule(db, input),
    fire: (batch) => fire(db, batch),
    dueSchedules: (input) => scheduleQueries.dueSchedules(db, input),
    findSchedules: (ids) => scheduleQueries.findSchedules(db, ids),
    findSchedule: (input) => scheduleQueries.findSchedule(db, input),
    listSchedules: (input) => scheduleQueries.listSchedules(db, input),
    schedulesFollowing: (runIds) => scheduleQueries.schedulesFollowing(db, runIds),
    liveNodes: () => scheduleQueries.liveNodes(db),
    occurrences: (input) => scheduleQueries.occurrences(db, input),
    occurrenceOf: (input) => scheduleQueries.occurrenceOf(db, input),
    addBackfill: (input) => backfills.addBackfill(db, input),
    findBackfill: (input) => backfills.findBackfill(db, input),
    listBackfills: (input) => backfills.listBackfills(db, input),
    openBackfills: (input) => backfills.openBackfills(db, input),
    moveBackfill: (move) => backfills.moveBackfill(db, move),
    cancelBackfill: (input) => backfills.cancelBackfill(db, input),
    backfilledTimes: (input) => backfills.backfilledTimes(db, input),
    beginFlows: (input) => beginFlows(db, input),
    advanceFlows: (batch) => flows.advanceFlows(db, batch),
    restlessFlows: (input) => flows.restlessFlows(db, input),
    findFlows: (input) => flowQueries.findFlows(db, input),
    flowSteps: (input) => flowQueries.flowSteps(db, input),
    countSteps: (input) => flowQueries.countSteps(db, input),
    stepsAt: (input) => flowQueries.stepsAt(db, input),
    stepsFrom: (input) => flowQueries.stepsFrom(db, input),
    countItems: (input) => flowQueries.countItems(db, input),
    failedItems: (input) => flowQueries.failedItems(db, input),
    stepsOfRuns: (input) => flowQueries.stepsOfRuns(db, input),
    resultsOf: (input) => flowQueries.resultsOf(db, input),
    openFollowUps: (input) => followQueries.openFollowUps(db, input),
    settleFollowUps: (input) => settleFollowUps(db, input),
    followedBy: (input) => followQueries.followedBy(db, input),
    followUpsAfter: (input) => followQueries.followUpsAfter(db, input),
    followUpsOf: (input) => followQueries.followUpsOf(db, input),
    followersOf: (input) => followQueries.followersOf(db, input),
    backfilledBy: (input) => backfills.backfilledBy(db, input),
    pastDurations: (input) => scheduleQueries.pastDurations(db, input),
    unusualOccurrences: (input) => scheduleQueries.unusualOccurrences(db, input),
    nextExpectationAt: () => lapses.nextExpectationAt(db),
    dueExpectations: (input) => lapses.dueExpectations(db, input),
    expectationsOf: (runIds) => lapses.expectationsOf(db, runIds),
    settleExpectations: (seen) => lapses.settleExpectations(db, seen),
    lapsesOf: (runIds) => lapses.lapsesOf(db, runIds),
    pruneOccurrences: (input) => pruneOccurrences(db, input),

    identity: () => blobs.identity(db),
    putBlob: (input) => blobs.putBlob(db, input),
    getBlob: (input) => blobs.getBlob(db, input),
    deleteBlobs: (keys) => blobs.deleteBlobs(db, keys),
    listBlobs: (input) => blobs.listBlobs(db, input),
    putWebhook: (input) => webhooks.putWebhook(db, input),
    rotateWebhook: (input) => webhooks.rotateWebhook(db, input),
    deleteWebhook: (input) => webhooks.deleteWebhook(db, input),
    findWebhook: (input) => webhooks.findWebhook(db, input),
    listWebhooks: (input) => webhooks.listWebhooks(db, input),
    webhooksOf: (projectIds) => webhooks.webhooksOf(db, projectIds),
    webhookWork: () => outbox.webhookWork(db),
    outboxEvents: (input) => outbox.outboxEvents(db, input),
    expandOutbox: (events) => outbox.expandOutbox(db, events),
    addDelivery: (input) => deliveries.addDelivery(db, input),
    claimDeliveries: (input) => deliveries.claimDeliveries(db, input),
    settleDelivery: (input) => deliveries.settleDelivery(db, input),
    redeliver: (input) => deliveries.redeliver(db, input),
    listDeliveries: (input) => deliveries.listDeliveries(db, input),
    findDelivery: (input) => deliveries.findDelivery(db, input),
    pruneDeliveries: (input) => deliveries.pruneDeliveries(db, input),

    ping: async () => {
      await read(db.duty, PING)
    },
    prune: (input) => prune(db, input),
    maintain: () => maintain(db),
    close: async () => {
      await Promise.all(connections.map((connection) => connection.close()))
    },
  }
}

/** An address that suddenly leads to another cluster is not an outage that ends by itself. */
function watchIdentity({ onFatal = () => {}, onWarn = () => {} }: PostgresOptions) {
  let known: ServerFacts | undefined
  let isLost = false
  return {
    version: () => known?.version ?? 'PostgreSQL',
    greet: (facts: ServerFacts) => {
      const before = known
      if (
        before?.systemId != null &&
        facts.systemId !== null &&
        before.systemId !== facts.systemId
      ) {
        const error = new StoreError('unavailable', 'the address leads to another database cluster')
        if (!isLost) onFatal(error)
        isLost = true
        throw error
      }
      if (before?.timeline != null && before.timeline !== facts.timeline) {
        onWarn('a standby took over; what it had not received yet is lost')
      }
      known = facts
    },
  }
}
