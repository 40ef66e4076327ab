import type { Store, Upkeep } from '../../port.ts'

/** A port's verbs as SQLite answers them: at once. */
export type Sync<Port> = {
  readonly [Verb in keyof Port]: Port[Verb] extends (...args: infer Args) => Promise<infer Result>
    ? (...args: Args) => Result
    : never
}

/** Housekeeping comes in bites, so that ticks are served in between. */
interface Bites {
  /** True when another bite is left. */
  maintain(): boolean
}

type Facts = 'kind' | 'version' | 'ticksInFlight' | 'tickCap'
export type Verbs = Sync<Omit<Store, Facts | 'close' | keyof Pick<Upkeep, 'maintain'>>> &
  Readonly<Bites>

export type VerbName = keyof Verbs

/** Verbs that only read, and can therefore be answered by a connection of their own. */
export const QUERIES = [
  'findRun',
  'findRuns',
  'attemptsOf',
  'listRuns',
  'liveCounts',
  'jobNames',
  'projectNames',
  'listSessions',
  'recallSession',
  'countNodes',
  'logChunks',
  'logEnd',
  'findLine',
  'chunksLike',
  'findDefinition',
  'listDefinitions',
  'jobVersions',
  'definitionsOf',
  'jobsOfHook',
  'findNumberedJob',
  'listNumberedJobs',
  'listOwnedJobs',
  'listQueues',
  'laneDepths',
  'laneHeads',
  'waitOf',
  'findToken',
  'listTokens',
  'listSecrets',
  'findSecrets',
  'secretsWithoutKey',
  'secretKeys',
  'nodesWithoutKey',
  'listAudit',
  'identity',
  'getBlob',
  'findWebhook',
  'listWebhooks',
  'webhooksOf',
  'webhookWork',
  'outboxEvents',
  'listDeliveries',
  'findDelivery',
  'dueSchedules',
  'findSchedules',
  'findSchedule',
  'listSchedules',
  'schedulesFollowing',
  'liveNodes',
  'occurrences',
  'occurrenceOf',
  'unusualOccurrences',
  'pastDurations',
  'findBackfill',
  'listBackfills',
  'openBackfills',
  'backfilledTimes',
  'backfilledBy',
  'nextExpectationAt',
  'dueExpectations',
  'expectationsOf',
  'lapsesOf',
  'findFlows',
  'flowSteps',
  'countSteps',
  'stepsAt',
  'stepsFrom',
  'countItems',
  'failedItems',
  'stepsOfRuns',
  'resultsOf',
  'openFollowUps',
  'followedBy',
  'followUpsAfter',
  'followUpsOf',
  'followersOf',
] as const satisfies readonly VerbName[]

export type QueryName = (typeof QUERIES)[number]
export type QueryVerbs = Pick<Verbs, QueryName>
