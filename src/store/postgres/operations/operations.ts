import type {
  Store,
  AuditStore,
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
  RunQueries,
  ScheduleStore,
  SecretStore,
  SweepStore,
  TickStore,
  TokenStore,
  WaitQueries,
  WebhookStore,
  WorkflowStore,
} from '../../port.ts'
import { listAudit } from '../audit/audit.ts'
import * as blobs from '../blobs/blobs.ts'
import * as backfills from '../backfills/backfills.ts'
import { beginWorkflows } from '../workflows/begin-workflows.ts'
import * as catalog from '../catalog/catalog.ts'
import type { Database } from '../database/database.ts'
import * as definitions from '../definitions/definitions.ts'
import * as deliveries from '../webhooks/deliveries.ts'
import { fire } from '../schedules/fire.ts'
import * as workflowQueries from '../workflows/workflow-queries.ts'
import * as workflows from '../workflows/workflows.ts'
import * as followQueries from '../followers/follow-up-queries.ts'
import { settleFollowUps } from '../followers/settle-follow-ups.ts'
import { jobsOfHook } from '../definitions/hooks.ts'
import { laneHeads } from '../queues/lane-heads.ts'
import * as expectations from '../expectations/expectations.ts'
import * as leases from '../leases/leases.ts'
import * as logs from '../logs/logs.ts'
import { maintain } from '../maintenance/maintain.ts'
import * as nodes from '../nodes/nodes.ts'
import * as numberedJobs from '../definitions/numbered-jobs.ts'
import { originsOf } from '../runs/origins.ts'
import * as outbox from '../webhooks/outbox.ts'
import { promote } from '../sweeps/promote.ts'
import { prune } from '../maintenance/prune.ts'
import { pruneOccurrences } from '../maintenance/prune-occurrences.ts'
import * as queues from '../queues/queues.ts'
import { recheck } from '../sweeps/recheck.ts'
import * as rewinding from '../schedules/rewind.ts'
import * as runQueries from '../runs/run-queries.ts'
import * as scheduleQueries from '../schedules/schedule-queries.ts'
import * as schedules from '../schedules/schedules.ts'
import * as secrets from '../secrets/secrets.ts'
import * as sessions from '../sessions/sessions.ts'
import * as tokens from '../tokens/tokens.ts'
import { prepareTick } from '../ticks/tick.ts'
import { searchPage } from '../runs/search-runs.ts'
import { waitOf } from '../runs/waiting.ts'
import * as webhooks from '../webhooks/webhooks.ts'
import type { PostgresHealth } from '../health/health.ts'

type Fact = 'kind' | 'version' | 'location' | 'ticksInFlight' | 'tickCap'

/** Every operation of the store, on these connections. */
export function createOperations(
  db: Database,
  health: PostgresHealth,
): Omit<Store, Fact | 'close' | 'expectClock'> {
  return {
    ...runOperations(db),
    ...nodeOperations(db),
    ...jobOperations(db),
    ...accessOperations(db),
    ...scheduleOperations(db),
    ...workflowOperations(db),
    ...webhookOperations(db),
    ...maintenanceOperations(db, health),
  }
}

/** The life of runs: ticks, sweeps, and what is read about runs. */
function runOperations(db: Database): TickStore & SweepStore & RunQueries & WaitQueries & LogStore {
  return {
    tick: prepareTick(db),
    promote: (input) => promote(db, input),
    recheck: (input) => recheck(db, input),
    laneHeads: (input) => laneHeads(db, input),
    orphans: (input) => leases.orphans(db, input),
    ownLeases: (input) => leases.ownLeases(db, input),
    cancelMarks: (input) => leases.cancelMarks(db, input),
    findAttempts: (pairs) => leases.findAttempts(db, pairs),
    findRun: (input) => runQueries.findRun(db, input),
    findRuns: (input) => runQueries.findRuns(db, input),
    originsOf: (input) => originsOf(db, input),
    attemptsOf: (input) => runQueries.attemptsOf(db, input),
    listRuns: (filter) => runQueries.listRuns(db, filter),
    searchRuns: (input) => searchPage(db, input),
    findJobs: (input) => catalog.findJobs(db, input),
    waitOf: (input) => waitOf(db, input),
    liveCounts: () => runQueries.liveCounts(db),
    appendLog: (chunks) => logs.appendLog(db, chunks),
    logChunks: (input) => logs.logChunks(db, input),
    logEnd: (input) => logs.logEnd(db, input),
    findLine: (input) => logs.findLine(db, input),
    chunksLike: (input) => logs.chunksLike(db, input),
  }
}

/** Nodes, the sessions of workers, and their clocks. */
function nodeOperations(db: Database): Omit<NodeStore, 'expectClock'> {
  return {
    join: (input) => nodes.join(db, input),
    heartbeat: (input) => nodes.heartbeat(db, input),
    leave: (input) => nodes.leave(db, input),
    declareDeadNodes: () => nodes.declareDeadNodes(db),
    openSession: (input) => sessions.openSession(db, input),
    changeSlot: (input) => nodes.changeSlot(db, input),
    clockFacts: () => nodes.clockFacts(db),
    recordClock: (input) => nodes.recordClock(db, input),
    adopt: (input) => sessions.adopt(db, input),
    forgetSession: (input) => sessions.forgetSession(db, input),
    markSessionLost: (input) => sessions.markSessionLost(db, input),
    quarantineSession: (input) => sessions.quarantineSession(db, input),
    touchSessions: (lastSeen) => sessions.touchSessions(db, lastSeen),
    listSessions: () => sessions.listSessions(db),
    loadSession: (input) => sessions.loadSession(db, input),
    countNodes: () => sessions.countNodes(db),
  }
}

/** Jobs, the names that rows refer to, and queues. */
function jobOperations(db: Database): CatalogStore & JobStore & QueueStore {
  return {
    internProjects: (names) => catalog.internProjects(db, names),
    findProject: (name) => catalog.findProject(db, name),
    findJob: (input) => catalog.findJob(db, input),
    internJobs: (jobs) => catalog.internJobs(db, jobs),
    internLanes: (specs) => catalog.internLanes(db, specs),
    internGates: (gates) => catalog.internGates(db, gates),
    lanesAfter: (after) => catalog.lanesAfter(db, after),
    jobNames: (ids) => catalog.namesOf(db, 'job', ids),
    projectNames: (ids) => catalog.namesOf(db, 'project', ids),
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
  }
}

/** Tokens, secrets and the audit log. */
function accessOperations(db: Database): TokenStore & SecretStore & AuditStore {
  return {
    createToken: (input) => tokens.createToken(db, input),
    findToken: (hash) => tokens.findToken(db, hash),
    listTokens: (input) => tokens.listTokens(db, input),
    expireTokens: () => tokens.expireTokens(db),
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
  }
}

/** Schedules, backfills and expectations. */
function scheduleOperations(db: Database): ScheduleStore & BackfillStore & ExpectationStore {
  return {
    putSchedule: (input) => schedules.putSchedule(db, input),
    pauseSchedule: (input) => schedules.pauseSchedule(db, input),
    resumeSchedule: (input) => schedules.resumeSchedule(db, input),
    skipNext: (input) => schedules.skipNext(db, input),
    deleteSchedule: (input) => schedules.deleteSchedule(db, input),
    failSchedule: (input) => schedules.failSchedule(db, input),
    schedulesAhead: (input) => rewinding.schedulesAhead(db, input),
    rewindSchedules: (commands, at) => rewinding.rewindSchedules(db, commands, at),
    rewindTimers: () => rewinding.rewindTimers(db),
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
    advanceBackfill: (move) => backfills.advanceBackfill(db, move),
    cancelBackfill: (input) => backfills.cancelBackfill(db, input),
    backfilledTimes: (input) => backfills.backfilledTimes(db, input),
    backfilledBy: (input) => backfills.backfilledBy(db, input),
    pastDurations: (input) => scheduleQueries.pastDurations(db, input),
    unusualOccurrences: (input) => scheduleQueries.unusualOccurrences(db, input),
    nextExpectationAt: () => expectations.nextExpectationAt(db),
    dueExpectations: (input) => expectations.dueExpectations(db, input),
    expectationsOf: (runIds) => expectations.expectationsOf(db, runIds),
    settleExpectations: (seen) => expectations.settleExpectations(db, seen),
    violationsOf: (runIds) => expectations.violationsOf(db, runIds),
    pruneOccurrences: (input) => pruneOccurrences(db, input),
  }
}

/** Workflows and jobs that follow others. */
function workflowOperations(db: Database): WorkflowStore & FollowStore {
  return {
    beginWorkflows: (input) => beginWorkflows(db, input),
    advanceWorkflows: (batch) => workflows.advanceWorkflows(db, batch),
    dirtyWorkflows: (input) => workflows.dirtyWorkflows(db, input),
    findWorkflows: (input) => workflowQueries.findWorkflows(db, input),
    workflowSteps: (input) => workflowQueries.workflowSteps(db, input),
    countSteps: (input) => workflowQueries.countSteps(db, input),
    stepsAt: (input) => workflowQueries.stepsAt(db, input),
    stepsFrom: (input) => workflowQueries.stepsFrom(db, input),
    countItems: (input) => workflowQueries.countItems(db, input),
    failedItems: (input) => workflowQueries.failedItems(db, input),
    stepsOfRuns: (input) => workflowQueries.stepsOfRuns(db, input),
    resultsOf: (input) => workflowQueries.resultsOf(db, input),
    openFollowUps: (input) => followQueries.openFollowUps(db, input),
    settleFollowUps: (input) => settleFollowUps(db, input),
    followedBy: (input) => followQueries.followedBy(db, input),
    followUpsAfter: (input) => followQueries.followUpsAfter(db, input),
    followUpsOf: (input) => followQueries.followUpsOf(db, input),
    followersOf: (input) => followQueries.followersOf(db, input),
  }
}

/** Webhooks, their outbox and deliveries. */
function webhookOperations(db: Database): WebhookStore & OutboxStore & DeliveryStore {
  return {
    putWebhook: (input) => webhooks.putWebhook(db, input),
    rotateWebhook: (input) => webhooks.rotateWebhook(db, input),
    deleteWebhook: (input) => webhooks.deleteWebhook(db, input),
    findWebhook: (input) => webhooks.findWebhook(db, input),
    listWebhooks: (input) => webhooks.listWebhooks(db, input),
    webhooksOf: (projectIds) => webhooks.webhooksOf(db, projectIds),
    pendingWebhookWork: () => outbox.pendingWebhookWork(db),
    outboxEvents: (input) => outbox.outboxEvents(db, input),
    expandOutbox: (events) => outbox.expandOutbox(db, events),
    addDelivery: (input) => deliveries.addDelivery(db, input),
    claimDeliveries: (input) => deliveries.claimDeliveries(db, input),
    settleDelivery: (input) => deliveries.settleDelivery(db, input),
    redeliver: (input) => deliveries.redeliver(db, input),
    listDeliveries: (input) => deliveries.listDeliveries(db, input),
    findDelivery: (input) => deliveries.findDelivery(db, input),
    pruneDeliveries: (input) => deliveries.pruneDeliveries(db, input),
  }
}

/** Health, pruning, and blobs. */
function maintenanceOperations(db: Database, health: PostgresHealth): BlobRows & MaintenanceStore {
  return {
    identity: () => blobs.identity(db),
    putBlob: (input) => blobs.putBlob(db, input),
    getBlob: (input) => blobs.getBlob(db, input),
    deleteBlobs: (keys) => blobs.deleteBlobs(db, keys),
    listBlobs: (input) => blobs.listBlobs(db, input),
    ping: () => health.ping(db),
    probe: () => health.probe(db),
    // Damage is found by reads, and remembered; PostgreSQL has no bounded integrity check.
    inspect: async () => health.requireSound(),
    freeBytes: async () => null,
    prune: (input) => prune(db, input),
    maintain: (input) => maintain(db, input),
  }
}
