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
import type { OperationName, Operations } from '../engine/engine-operations.ts'
import type { QueryName } from '../engine/queries.ts'

/**
 * Where an operation runs. Each runner calls the operation of this name: a command of
 * `engine/prepare-operations.ts`, or a query of `engine/queries.ts`.
 */
export interface Runners {
  /** In the queue of the writing connection. */
  readonly command: <Name extends Exclude<OperationName, QueryName>>(
    operation: Name,
    ...args: Parameters<Operations[Name]>
  ) => Promise<ReturnType<Operations[Name]>>
  /**
   * For queries that read a few rows: on a separate connection of the calling thread, where there is
   * one.
   */
  readonly lookup: QueryCall
  /**
   * For queries that read more the more rows there are: in a reader thread, where there is one. The
   * arguments and answers cross to that thread, so they are plain values without buffers.
   */
  readonly list: QueryCall
}

export type QueryCall = <Name extends QueryName>(
  operation: Name,
  ...args: Parameters<Operations[Name]>
) => Promise<ReturnType<Operations[Name]>>

type Fact = 'kind' | 'version' | 'location' | 'ticksInFlight' | 'tickCap'
type WithoutWriter = 'maintain' | 'inspect' | 'freeBytes'

/** Every operation of the store that the engine or a reading connection answers. */
export function createOperations(
  run: Runners,
): Omit<Store, Fact | 'close' | 'expectClock' | WithoutWriter> {
  return {
    ...runOperations(run),
    ...nodeOperations(run),
    ...jobOperations(run),
    ...accessOperations(run),
    ...scheduleOperations(run),
    ...workflowOperations(run),
    ...webhookOperations(run),
    ...maintenanceOperations(run),
  }
}

/** The life of runs: ticks, sweeps, and what is read about runs. */
function runOperations({
  command,
  lookup,
  list,
}: Runners): TickStore & SweepStore & RunQueries & WaitQueries & LogStore {
  return {
    tick: (batch) => command('tick', batch),
    promote: (input) => command('promote', input),
    recheck: (input) => command('recheck', input),
    laneHeads: (input) => lookup('laneHeads', input),
    orphans: (input) => command('orphans', input),
    ownLeases: (input) => command('ownLeases', input),
    cancelMarks: (input) => command('cancelMarks', input),
    findAttempts: (pairs) => command('findAttempts', pairs),
    findRun: (input) => lookup('findRun', input),
    findRuns: (input) => lookup('findRuns', input),
    originsOf: (input) => list('originsOf', input),
    attemptsOf: (input) => lookup('attemptsOf', input),
    listRuns: (filter) => list('listRuns', filter),
    searchRuns: (input) => list('searchRuns', input),
    findJobs: (input) => list('findJobs', input),
    waitOf: (input) => list('waitOf', input),
    liveCounts: () => list('liveCounts'),
    appendLog: (chunks) => command('appendLog', chunks),
    logChunks: (input) => lookup('logChunks', input),
    logEnd: (input) => lookup('logEnd', input),
    findLine: (input) => lookup('findLine', input),
    chunksLike: (input) => list('chunksLike', input),
  }
}

/** Nodes, the sessions of workers, and their clocks. */
function nodeOperations({ command, lookup, list }: Runners): Omit<NodeStore, 'expectClock'> {
  return {
    join: (input) => command('join', input),
    heartbeat: (input) => command('heartbeat', input),
    leave: (input) => command('leave', input),
    declareDeadNodes: () => command('declareDeadNodes'),
    openSession: (input) => command('openSession', input),
    changeSlot: (input) => command('changeSlot', input),
    clockFacts: () => command('clockFacts'),
    recordClock: (input) => command('recordClock', input),
    adopt: (input) => command('adopt', input),
    forgetSession: (input) => command('forgetSession', input),
    markSessionLost: (input) => command('markSessionLost', input),
    quarantineSession: (input) => command('quarantineSession', input),
    touchSessions: (lastSeen) => command('touchSessions', lastSeen),
    listSessions: () => list('listSessions'),
    loadSession: (input) => lookup('loadSession', input),
    countNodes: () => lookup('countNodes'),
  }
}

/** Jobs, the names that rows refer to, and queues. */
function jobOperations({ command, lookup, list }: Runners): CatalogStore & JobStore & QueueStore {
  return {
    internProjects: (names) => command('internProjects', names),
    findProject: (name) => command('findProject', name),
    findJob: (input) => command('findJob', input),
    internJobs: (jobs) => command('internJobs', jobs),
    internLanes: (specs) => command('internLanes', specs),
    internGates: (gates) => command('internGates', gates),
    lanesAfter: (after) => command('lanesAfter', after),
    jobNames: (ids) => lookup('jobNames', ids),
    projectNames: (ids) => lookup('projectNames', ids),
    putJob: (input) => command('putJob', input),
    deleteJob: (input) => command('deleteJob', input),
    pauseJob: (input) => command('pauseJob', input),
    jobsOfHook: (input) => lookup('jobsOfHook', input),
    findDefinition: (input) => lookup('findDefinition', input),
    listDefinitions: (input) => list('listDefinitions', input),
    jobVersions: (input) => list('jobVersions', input),
    definitionsOf: (keys) => lookup('definitionsOf', keys),
    findNumberedJob: (input) => lookup('findNumberedJob', input),
    listNumberedJobs: (input) => lookup('listNumberedJobs', input),
    listOwnedJobs: (input) => lookup('listOwnedJobs', input),
    putQueue: (input) => command('putQueue', input),
    listQueues: () => lookup('listQueues'),
    laneDepths: () => list('laneDepths'),
  }
}

/** Tokens, secrets and the audit log. */
function accessOperations({
  command,
  lookup,
  list,
}: Runners): TokenStore & SecretStore & AuditStore {
  return {
    createToken: (input) => command('createToken', input),
    findToken: (hash) => lookup('findToken', hash),
    listTokens: (input) => lookup('listTokens', input),
    expireTokens: () => command('expireTokens'),
    revokeToken: (input) => command('revokeToken', input),
    touchTokens: (uses) => command('touchTokens', uses),
    putSecret: (input) => command('putSecret', input),
    removeSecret: (input) => command('removeSecret', input),
    listSecrets: (input) => lookup('listSecrets', input),
    findSecrets: (keys) => lookup('findSecrets', keys),
    secretsWithoutKey: (input) => lookup('secretsWithoutKey', input),
    resealSecrets: (input) => command('resealSecrets', input),
    secretKeys: () => lookup('secretKeys'),
    forgetUnusedKeys: (input) => command('forgetUnusedKeys', input),
    announceKeys: (input) => command('announceKeys', input),
    nodesWithoutKey: (input) => lookup('nodesWithoutKey', input),
    listAudit: (input) => list('listAudit', input),
  }
}

/** Schedules, backfills and expectations. */
function scheduleOperations({
  command,
  lookup,
  list,
}: Runners): ScheduleStore & BackfillStore & ExpectationStore {
  return {
    putSchedule: (input) => command('putSchedule', input),
    pauseSchedule: (input) => command('pauseSchedule', input),
    resumeSchedule: (input) => command('resumeSchedule', input),
    skipNext: (input) => command('skipNext', input),
    deleteSchedule: (input) => command('deleteSchedule', input),
    failSchedule: (input) => command('failSchedule', input),
    schedulesAhead: (input) => command('schedulesAhead', input),
    rewindSchedules: (commands, at) => command('rewindSchedules', commands, at),
    rewindTimers: () => command('rewindTimers'),
    fire: (batch) => command('fire', batch),
    dueSchedules: (input) => lookup('dueSchedules', input),
    findSchedules: (ids) => lookup('findSchedules', ids),
    findSchedule: (input) => lookup('findSchedule', input),
    listSchedules: (input) => list('listSchedules', input),
    schedulesFollowing: (runIds) => lookup('schedulesFollowing', runIds),
    liveNodes: () => lookup('liveNodes'),
    occurrences: (input) => list('occurrences', input),
    occurrenceOf: (input) => lookup('occurrenceOf', input),
    addBackfill: (input) => command('addBackfill', input),
    findBackfill: (input) => lookup('findBackfill', input),
    listBackfills: (input) => list('listBackfills', input),
    openBackfills: (input) => lookup('openBackfills', input),
    advanceBackfill: (move) => command('advanceBackfill', move),
    cancelBackfill: (input) => command('cancelBackfill', input),
    backfilledTimes: (input) => list('backfilledTimes', input),
    backfilledBy: (input) => lookup('backfilledBy', input),
    pastDurations: (input) => list('pastDurations', input),
    unusualOccurrences: (input) => list('unusualOccurrences', input),
    nextExpectationAt: () => lookup('nextExpectationAt'),
    dueExpectations: (input) => lookup('dueExpectations', input),
    expectationsOf: (runIds) => lookup('expectationsOf', runIds),
    settleExpectations: (seen) => command('settleExpectations', seen),
    violationsOf: (runIds) => lookup('violationsOf', runIds),
    pruneOccurrences: (input) => command('pruneOccurrences', input),
  }
}

/** Workflows and jobs that follow others. */
function workflowOperations({ command, lookup, list }: Runners): WorkflowStore & FollowStore {
  return {
    beginWorkflows: (input) => command('beginWorkflows', input),
    advanceWorkflows: (batch) => command('advanceWorkflows', batch),
    dirtyWorkflows: (input) => command('dirtyWorkflows', input),
    findWorkflows: (input) => lookup('findWorkflows', input),
    workflowSteps: (input) => lookup('workflowSteps', input),
    countSteps: (input) => list('countSteps', input),
    stepsAt: (input) => lookup('stepsAt', input),
    stepsFrom: (input) => list('stepsFrom', input),
    countItems: (input) => list('countItems', input),
    failedItems: (input) => list('failedItems', input),
    stepsOfRuns: (input) => lookup('stepsOfRuns', input),
    resultsOf: (input) => lookup('resultsOf', input),
    openFollowUps: (input) => lookup('openFollowUps', input),
    settleFollowUps: (input) => command('settleFollowUps', input),
    followedBy: (input) => lookup('followedBy', input),
    followUpsAfter: (input) => lookup('followUpsAfter', input),
    followUpsOf: (input) => list('followUpsOf', input),
    followersOf: (input) => lookup('followersOf', input),
  }
}

/** Webhooks, their outbox and deliveries. */
function webhookOperations({
  command,
  lookup,
  list,
}: Runners): WebhookStore & OutboxStore & DeliveryStore {
  return {
    putWebhook: (input) => command('putWebhook', input),
    rotateWebhook: (input) => command('rotateWebhook', input),
    deleteWebhook: (input) => command('deleteWebhook', input),
    findWebhook: (input) => lookup('findWebhook', input),
    listWebhooks: (input) => lookup('listWebhooks', input),
    webhooksOf: (projectIds) => lookup('webhooksOf', projectIds),
    pendingWebhookWork: () => lookup('pendingWebhookWork'),
    outboxEvents: (input) => lookup('outboxEvents', input),
    expandOutbox: (events) => command('expandOutbox', events),
    addDelivery: (input) => command('addDelivery', input),
    claimDeliveries: (input) => command('claimDeliveries', input),
    settleDelivery: (input) => command('settleDelivery', input),
    redeliver: (input) => command('redeliver', input),
    listDeliveries: (input) => list('listDeliveries', input),
    findDelivery: (input) => lookup('findDelivery', input),
    pruneDeliveries: (input) => command('pruneDeliveries', input),
  }
}

/** Health, pruning, and blobs. */
function maintenanceOperations({
  command,
  lookup,
}: Runners): BlobRows & Omit<MaintenanceStore, WithoutWriter> {
  return {
    identity: () => lookup('identity'),
    putBlob: (input) => command('putBlob', input),
    getBlob: (input) => lookup('getBlob', input),
    deleteBlobs: (keys) => command('deleteBlobs', keys),
    listBlobs: (input) => command('listBlobs', input),
    ping: () => command('ping'),
    probe: () => command('probe'),
    prune: (input) => command('prune', input),
  }
}
