import type { Store, MaintenanceStore } from '../../port.ts'

/** The operations of a port as SQLite answers them: synchronously. */
export type Sync<Port> = {
  readonly [Name in keyof Port]: Port[Name] extends (...args: infer Args) => Promise<infer Result>
    ? (...args: Args) => Result
    : never
}

/** Maintenance runs in batches, so that ticks are served in between. */
interface MaintenanceBatches {
  /** True when another batch is left. */
  maintain(input: { mayDelete: boolean }): boolean
}

type Facts = 'kind' | 'version' | 'location' | 'ticksInFlight' | 'tickCap'
/** Answered without the writing connection. */
type WithoutWriter = keyof Pick<MaintenanceStore, 'maintain' | 'inspect' | 'freeBytes'>
export type Operations = Sync<Omit<Store, Facts | 'close' | 'expectClock' | WithoutWriter>> &
  Readonly<MaintenanceBatches>

export type OperationName = keyof Operations

/**
 * Every operation, and where it runs. `command`: in the writer's queue. `lookup`: reads a few rows,
 * and can therefore use a separate connection of the calling thread. `list`: reads more the more
 * rows there are, so it runs in a reader thread where there is one; its arguments and answers cross
 * to that thread, so they are plain values without buffers.
 */
const OPERATIONS = {
  tick: 'command',
  promote: 'command',
  recheck: 'command',
  orphans: 'command',
  ownLeases: 'command',
  cancelMarks: 'command',
  findAttempts: 'command',
  join: 'command',
  heartbeat: 'command',
  leave: 'command',
  declareDeadNodes: 'command',
  openSession: 'command',
  changeSlot: 'command',
  clockFacts: 'command',
  recordClock: 'command',
  adopt: 'command',
  forgetSession: 'command',
  markSessionLost: 'command',
  quarantineSession: 'command',
  touchSessions: 'command',
  findProject: 'command',
  findJob: 'command',
  internProjects: 'command',
  internJobs: 'command',
  internLanes: 'command',
  internGates: 'command',
  lanesAfter: 'command',
  appendLog: 'command',
  putJob: 'command',
  deleteJob: 'command',
  pauseJob: 'command',
  putQueue: 'command',
  createToken: 'command',
  expireTokens: 'command',
  revokeToken: 'command',
  touchTokens: 'command',
  putBlob: 'command',
  deleteBlobs: 'command',
  listBlobs: 'command',
  putWebhook: 'command',
  rotateWebhook: 'command',
  deleteWebhook: 'command',
  expandOutbox: 'command',
  addDelivery: 'command',
  claimDeliveries: 'command',
  settleDelivery: 'command',
  redeliver: 'command',
  pruneDeliveries: 'command',
  putSecret: 'command',
  removeSecret: 'command',
  resealSecrets: 'command',
  forgetUnusedKeys: 'command',
  announceKeys: 'command',
  putSchedule: 'command',
  pauseSchedule: 'command',
  resumeSchedule: 'command',
  skipNext: 'command',
  deleteSchedule: 'command',
  failSchedule: 'command',
  schedulesAhead: 'command',
  rewindSchedules: 'command',
  rewindTimers: 'command',
  fire: 'command',
  settleExpectations: 'command',
  pruneOccurrences: 'command',
  addBackfill: 'command',
  advanceBackfill: 'command',
  cancelBackfill: 'command',
  beginWorkflows: 'command',
  advanceWorkflows: 'command',
  settleFollowUps: 'command',
  dirtyWorkflows: 'command',
  ping: 'command',
  probe: 'command',
  prune: 'command',
  maintain: 'command',

  findRun: 'lookup',
  findRuns: 'lookup',
  originsOf: 'list',
  attemptsOf: 'lookup',
  listRuns: 'list',
  searchRuns: 'list',
  findJobs: 'list',
  liveCounts: 'list',
  jobNames: 'lookup',
  projectNames: 'lookup',
  listSessions: 'list',
  loadSession: 'lookup',
  countNodes: 'lookup',
  logChunks: 'lookup',
  logEnd: 'lookup',
  findLine: 'lookup',
  chunksLike: 'list',
  findDefinition: 'lookup',
  listDefinitions: 'list',
  jobVersions: 'list',
  definitionsOf: 'lookup',
  jobsOfHook: 'lookup',
  findNumberedJob: 'lookup',
  listNumberedJobs: 'lookup',
  listOwnedJobs: 'lookup',
  listQueues: 'lookup',
  laneDepths: 'list',
  laneHeads: 'lookup',
  waitOf: 'list',
  findToken: 'lookup',
  listTokens: 'lookup',
  listSecrets: 'lookup',
  findSecrets: 'lookup',
  secretsWithoutKey: 'lookup',
  secretKeys: 'lookup',
  nodesWithoutKey: 'lookup',
  listAudit: 'list',
  identity: 'lookup',
  getBlob: 'lookup',
  findWebhook: 'lookup',
  listWebhooks: 'lookup',
  webhooksOf: 'lookup',
  pendingWebhookWork: 'lookup',
  outboxEvents: 'lookup',
  listDeliveries: 'list',
  findDelivery: 'lookup',
  dueSchedules: 'lookup',
  findSchedules: 'lookup',
  findSchedule: 'lookup',
  listSchedules: 'list',
  schedulesFollowing: 'lookup',
  liveNodes: 'lookup',
  occurrences: 'list',
  occurrenceOf: 'lookup',
  unusualOccurrences: 'list',
  pastDurations: 'list',
  findBackfill: 'lookup',
  listBackfills: 'list',
  openBackfills: 'lookup',
  backfilledTimes: 'list',
  backfilledBy: 'lookup',
  nextExpectationAt: 'lookup',
  dueExpectations: 'lookup',
  expectationsOf: 'lookup',
  violationsOf: 'lookup',
  findWorkflows: 'lookup',
  workflowSteps: 'lookup',
  countSteps: 'list',
  stepsAt: 'lookup',
  stepsFrom: 'list',
  countItems: 'list',
  failedItems: 'list',
  stepsOfRuns: 'lookup',
  resultsOf: 'lookup',
  openFollowUps: 'lookup',
  followedBy: 'lookup',
  followUpsAfter: 'lookup',
  followUpsOf: 'list',
  followersOf: 'lookup',
} as const satisfies Record<OperationName, 'command' | 'lookup' | 'list'>

type NamesOf<Kind> = {
  [Name in OperationName]: (typeof OPERATIONS)[Name] extends Kind ? Name : never
}[OperationName]

export type CommandName = NamesOf<'command'>
export type ListQueryName = NamesOf<'list'>
export type QueryName = NamesOf<'lookup' | 'list'>
export type QueryOperations = Pick<Operations, QueryName>

const NAMES = Object.keys(OPERATIONS) as OperationName[]
export const COMMANDS = NAMES.filter((name) => OPERATIONS[name] === 'command') as CommandName[]
export const QUERIES = NAMES.filter((name) => OPERATIONS[name] !== 'command') as QueryName[]

export function isListQuery(name: OperationName): name is ListQueryName {
  return OPERATIONS[name] === 'list'
}
