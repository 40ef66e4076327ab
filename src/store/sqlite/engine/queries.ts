import type { Database } from 'better-sqlite3'
import { prepareLaneHeads } from '../queues/lane-heads.ts'
import { prepareRunQueries } from '../runs/run-queries.ts'
import { prepareCatalogQueries } from '../catalog/catalog.ts'
import { prepareSearchRuns } from '../runs/search-runs.ts'
import { prepareAuditQueries } from '../audit/audit.ts'
import { prepareBackfillQueries } from '../backfills/backfills.ts'
import { prepareBlobQueries } from '../blobs/blobs.ts'
import { prepareDefinitionQueries } from '../definitions/definitions.ts'
import { prepareDeliveryQueries } from '../webhooks/deliveries.ts'
import { prepareWorkflowQueries } from '../workflows/workflow-queries.ts'
import { prepareFollowQueries } from '../followers/follow-up-queries.ts'
import { prepareHookQueries } from '../definitions/hooks.ts'
import { prepareOriginQueries } from '../runs/origins.ts'
import { prepareOutboxQueries } from '../webhooks/outbox.ts'
import { prepareWebhookQueries } from '../webhooks/webhooks.ts'
import { prepareExpectationQueries } from '../expectations/expectations.ts'
import { prepareLogQueries } from '../logs/logs.ts'
import { prepareNumberedJobs } from '../definitions/numbered-jobs.ts'
import { prepareQueueQueries } from '../queues/queues.ts'
import { prepareScheduleQueries } from '../schedules/schedule-queries.ts'
import { prepareSecretQueries } from '../secrets/secrets.ts'
import { prepareSessionQueries } from '../sessions/sessions.ts'
import { prepareTokenQueries } from '../tokens/tokens.ts'
import type { Transactions } from '../connection/transaction.ts'
import { prepareWaitQueries } from '../runs/waiting.ts'
import type { Operations } from './engine-operations.ts'

export type QueryName = keyof ReturnType<typeof prepareQueries>
export type QueryOperations = Pick<Operations, QueryName>

/** The read operations, on any connection that may read: they never write. */
export function prepareQueries(db: Database) {
  return {
    ...prepareRunQueries(db),
    searchRuns: prepareSearchRuns(db),
    ...prepareCatalogQueries(db),
    laneHeads: prepareLaneHeads(db),
    ...prepareOriginQueries(db),
    ...prepareWaitQueries(db),
    ...prepareSessionQueries(db),
    ...prepareLogQueries(db),
    ...prepareDefinitionQueries(db),
    ...prepareHookQueries(db),
    ...prepareNumberedJobs(db),
    ...prepareQueueQueries(db),
    ...prepareTokenQueries(db),
    ...prepareSecretQueries(db),
    ...prepareAuditQueries(db),
    ...prepareBlobQueries(db),
    ...prepareWebhookQueries(db),
    ...prepareOutboxQueries(db),
    ...prepareDeliveryQueries(db),
    ...prepareScheduleQueries(db),
    ...prepareBackfillQueries(db),
    ...prepareExpectationQueries(db),
    ...prepareWorkflowQueries(db),
    ...prepareFollowQueries(db),
  }
}

/** The same operations, each run through `read`. */
export function guarded(queries: QueryOperations, read: Transactions['read']): QueryOperations {
  const pass = ([name, operation]: [string, (...args: never[]) => unknown]) => [
    name,
    (...args: never[]) => read(() => operation(...args)),
  ]
  return Object.fromEntries(Object.entries(queries).map(pass)) as QueryOperations
}
