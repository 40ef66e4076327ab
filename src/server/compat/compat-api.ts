import type { Clock } from '../../core/clock.ts'
import type { SchedulerClient } from '../../core/wire/protocol.ts'
import { formatTime } from '../../core/wire/runs.ts'
import type { Store } from '../../store/port.ts'
import type { Administration } from '../admin/administration.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import type { Definitions } from '../definitions/definitions.ts'
import { createLogReader } from '../logs/log-reader.ts'
import type { ExchangeContext } from '../workers/exchange.ts'
import type { LogContext } from '../workers/store-logs.ts'
import type { SessionRegistry } from '../workers/session-registry.ts'
import type { SessionIndex } from '../sessions/session-index.ts'
import type { HeldLease, Session } from '../sessions/session.ts'
import { createCompatJobs, type CompatJobs } from './compat-jobs.ts'
import { createCompatReports, type CompatReports } from './compat-reports.ts'
import { createCompatSessions, type CompatSessions } from './compat-sessions.ts'
import { writeCompatRecurrence } from './recurrence.ts'
import { shellTextOf } from './shell-text.ts'
import { createCompatViews, definitionOf, rulesOf, type CompatViews } from './compat-views.ts'
import { createJobUuids, createRunUuids, type Uuids } from './uuids.ts'
import type { WireCompatTask } from './wire.ts'

/** Two older protocols, each a thin translation to the normal operations. */
export interface CompatApi extends CompatReports {
  readonly jobs: CompatJobs
  readonly showing: CompatViews
  readonly jobUuids: Uuids
  readonly runUuids: Uuids
  readonly sessions: CompatSessions
  /**
   * The task for a worker; a run that its protocol cannot express ends here, and null is returned.
   */
  taskOf(session: Session, lease: HeldLease): Promise<WireCompatTask | null>
  /** Zone for times without a zone. */
  readonly zone: string
  storeNow(): number
}

export function createCompatApi(deps: {
  readonly clock: Clock
  readonly store: Store
  readonly catalog: CatalogCache
  readonly definitions: Definitions
  readonly admin: Pick<Administration, 'jobs' | 'schedules'>
  readonly sessionIndex: SessionIndex
  readonly registry: SessionRegistry
  readonly exchanging: ExchangeContext
  readonly logging: LogContext
  /** Identifies this installation. */
  readonly installation: string
  readonly ttlMs: number
  readonly zone: string
  clientFor(project: string, actor: number | null): Pick<SchedulerClient, 'submit'>
  mintId(): number
  storeNow(): number
}): CompatApi {
  const { store, catalog, definitions, admin, zone, storeNow } = deps
  const jobUuids = createJobUuids(deps.installation)
  const runUuids = createRunUuids(deps.installation)
  const sessions = createCompatSessions(deps)
  const reader = createLogReader(store, deps.clock)

  return {
    jobs: createCompatJobs({ ...deps, jobs: admin.jobs }),
    showing: createCompatViews({ store, catalog, reader, jobUuids, runUuids, zone }),
    ...createCompatReports({ sessions, store, logging: deps.logging, storeNow }),
    jobUuids,
    runUuids,
    sessions,
    zone,
    storeNow,

    async taskOf(session, lease) {
      const { jobId, projectId, runId, attempt } = lease
      await Promise.all([definitions.learn([lease]), catalog.learnNames([jobId], [projectId])])
      const command = shellTextOf(definitions.workOf(lease))
      if (command === null) {
        const done = { outcome: 'failed', cause: 'start_error', retriable: false } as const
        await sessions.end(session, lease, { ...done, message: BEYOND })
        return null
      }
      const job = await store.findNumberedJob({ id: jobId })
      const schedules = await store.listSchedules({ projectId, jobId, after: 0, limit: 1 })
      return {
        id: jobId,
        name: (job && definitionOf(job).title) ?? catalog.jobName(jobId),
        command,
        schedule: writeCompatRecurrence(rulesOf(schedules), zone),
        created_at: formatTime(job?.since ?? lease.createdAt, 'created_at'),
        run_id: runId,
        attempt,
      }
    },
  }
}

const BEYOND =
  'its worker speaks the plain protocol and cannot keep limits; give the job another queue than plain'
