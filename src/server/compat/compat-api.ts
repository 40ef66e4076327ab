import type { SchedulerClient } from '../../core/wire/protocol.ts'
import { formatTime } from '../../core/wire/runs.ts'
import type { Store } from '../../store/port.ts'
import type { Administration } from '../admin/administration.ts'
import type { Catalog } from '../catalog/catalog-cache.ts'
import type { Definitions } from '../definitions/definitions.ts'
import { createLogReader } from '../logs/log-reader.ts'
import type { Exchanging } from '../workers/exchange.ts'
import type { Logging } from '../workers/store-logs.ts'
import type { Registry } from '../workers/session-registry.ts'
import type { Roster } from '../sessions/session-index.ts'
import type { HeldLease, Session } from '../sessions/session.ts'
import { createJobUuids, type JobUuids } from './uuids.ts'
import { createPlainJobs, type PlainJobs } from './compat-jobs.ts'
import { createPlainReports, type PlainReports } from './compat-reports.ts'
import { createPlainSessions, type PlainSessions } from './compat-sessions.ts'
import { writeRecurrence } from './recurrence.ts'
import { shellText } from './shell-text.ts'
import { createShowing, definitionOf, rulesOf, type Showing } from './compat-views.ts'
import type { WirePlainTask } from './wire.ts'

/** Two older protocols, spoken on plain paths: a thin translation of what everybody else uses. */
export interface Plain extends PlainReports {
  readonly jobs: PlainJobs
  readonly showing: Showing
  readonly uuids: JobUuids
  readonly sessions: PlainSessions
  /** What a worker is to do; what it could not do ends here, and null is answered. */
  taskOf(session: Session, lease: HeldLease): Promise<WirePlainTask | null>
  /** Where times without a zone are local to. */
  readonly zone: string
  storeNow(): number
}

export function createPlain(deps: {
  readonly store: Store
  readonly catalog: Catalog
  readonly definitions: Definitions
  readonly admin: Pick<Administration, 'jobs' | 'schedules'>
  readonly roster: Roster
  readonly registry: Registry
  readonly exchanging: Exchanging
  readonly logging: Logging
  /** What tells this installation from others. */
  readonly installation: string
  readonly ttlMs: number
  readonly zone: string
  clientFor(project: string, actor: number | null): Pick<SchedulerClient, 'submit'>
  mintId(): number
  storeNow(): number
}): Plain {
  const { store, catalog, definitions, admin, zone, storeNow } = deps
  const uuids = createJobUuids(deps.installation)
  const sessions = createPlainSessions(deps)
  const reader = createLogReader(store)

  return {
    jobs: createPlainJobs({ ...deps, jobs: admin.jobs }),
    showing: createShowing({ store, catalog, reader, uuids, zone }),
    ...createPlainReports({ sessions, store, logging: deps.logging, storeNow }),
    ...{ uuids, sessions, zone, storeNow },

    async taskOf(session, lease) {
      const { jobId, projectId, runId, attempt } = lease
      await Promise.all([definitions.learn([lease]), catalog.learnNames([jobId], [projectId])])
      const command = shellText(definitions.workOf(lease))
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
        schedule: writeRecurrence(rulesOf(schedules), zone),
        created_at: formatTime(job?.since ?? lease.createdAt, 'created_at'),
        run_id: runId,
        attempt,
      }
    },
  }
}

const BEYOND =
  'its worker speaks the plain protocol and cannot keep limits; give the job another queue than plain'
