import type { Database } from 'better-sqlite3'
import { prepareLaneHeads } from '../queues/lane-heads.ts'
import { prepareListRuns } from '../runs/run-queries.ts'
import { RECORD_COLUMNS, type RecordRow, toRecord } from '../record-row.ts'
import type { AttemptRecord } from '../../port.ts'
import { prepareAuditQueries } from '../audit/audit.ts'
import { prepareBackfillQueries } from '../backfills/backfills.ts'
import { prepareBlobQueries } from '../blobs/blobs.ts'
import { prepareDefinitionQueries } from '../definitions/definitions.ts'
import { prepareDeliveryQueries } from '../webhooks/deliveries.ts'
import { prepareFlowQueries } from '../workflows/workflow-queries.ts'
import { prepareFollowQueries } from '../followers/follow-up-queries.ts'
import { prepareHookQueries } from '../definitions/hooks.ts'
import { prepareOutboxQueries } from '../webhooks/outbox.ts'
import { prepareWebhookQueries } from '../webhooks/webhooks.ts'
import { prepareLapseQueries } from '../expectations/expectations.ts'
import { prepareLogQueries } from '../logs/logs.ts'
import { prepareNumberedJobs } from '../definitions/numbered-jobs.ts'
import { prepareQueueQueries } from '../queues/queues.ts'
import { prepareScheduleQueries } from '../schedules/schedule-queries.ts'
import { prepareSecretQueries } from '../secrets/secrets.ts'
import { prepareSessionQueries } from '../sessions/sessions.ts'
import { prepareTokenQueries } from '../tokens/tokens.ts'
import type { Transactions } from '../connection/transaction.ts'
import { prepareWaitQueries } from '../runs/waiting.ts'
import { QUERIES, type QueryName, type QueryVerbs } from '../operations/operations.ts'

export const FIND_RUN = `SELECT ${RECORD_COLUMNS} FROM run WHERE id = ? AND project_id = ?`
const FIND_RUN_ANYWHERE = `SELECT ${RECORD_COLUMNS} FROM run WHERE id = ?`
export const ATTEMPTS_OF = `
  SELECT attempt, fence, cause, message, worker, process,
         started_at AS startedAt, finished_at AS finishedAt
    FROM attempt WHERE run_id = ? ORDER BY fence`
/** Each count walks the index of its state, never the history. */
export const LIVE_COUNTS = `
  SELECT (SELECT count(*) FROM run WHERE status = 0) AS ready,
         (SELECT count(*) FROM run WHERE status = 1) AS running,
         (SELECT count(*) FROM run WHERE status = 2) AS scheduled,
         (SELECT count(*) FROM run WHERE status = 3) AS blocked`
const JOB_NAME = `SELECT name FROM job WHERE id = ?`
const PROJECT_NAME = `SELECT name FROM project WHERE id = ?`

/** The reading verbs, on whichever connection may read: they never write. */
export function prepareQueries(db: Database): QueryVerbs {
  const findRun = db.prepare<[number, number], RecordRow>(FIND_RUN)
  const findAnywhere = db.prepare<[number], RecordRow>(FIND_RUN_ANYWHERE)
  const liveCounts = db.prepare<[], ReturnType<QueryVerbs['liveCounts']>>(LIVE_COUNTS)
  const listRuns = prepareListRuns(db)
  const attemptsOf = db.prepare<[number], AttemptRecord>(ATTEMPTS_OF)
  const jobName = db.prepare<[number], string>(JOB_NAME).pluck()
  const projectName = db.prepare<[number], string>(PROJECT_NAME).pluck()

  return {
    findRun({ projectId, runId }) {
      const row = findRun.get(runId, projectId)
      return row ? toRecord(row) : null
    },
    findRuns: ({ runIds }) =>
      runIds.flatMap((runId) => {
        const row = findAnywhere.get(runId)
        return row ? [toRecord(row)] : []
      }),
    attemptsOf: ({ runId }) => attemptsOf.all(runId),
    listRuns: (filter) => listRuns(filter).map(toRecord),
    liveCounts: () => liveCounts.get() ?? { ready: 0, running: 0, scheduled: 0, blocked: 0 },
    jobNames: (ids) => namesOf(ids, (id) => jobName.get(id)),
    projectNames: (ids) => namesOf(ids, (id) => projectName.get(id)),
    laneHeads: prepareLaneHeads(db),
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
    ...prepareLapseQueries(db),
    ...prepareFlowQueries(db),
    ...prepareFollowQueries(db),
  }
}

function namesOf(
  ids: readonly number[],
  nameOf: (id: number) => string | undefined,
): Map<number, string> {
  const names = new Map<number, string>()
  for (const id of ids) {
    const name = nameOf(id)
    if (name !== undefined) names.set(id, name)
  }
  return names
}

/** The same verbs, each passing through the one way to the database. */
export function guarded(queries: QueryVerbs, read: Transactions['read']): QueryVerbs {
  const pass = (name: QueryName) => {
    const verb = queries[name] as (...args: unknown[]) => unknown
    return [name, (...args: unknown[]) => read(() => verb(...args))]
  }
  return Object.fromEntries(QUERIES.map(pass)) as QueryVerbs
}
