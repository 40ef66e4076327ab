import { decodeSpec } from '../../core/schedule/firing/schedule-spec.ts'
import { defaultsOf, type JobDefinition } from '../../core/job/job-definition.ts'
import type { ProcessEnd } from '../../core/run/output.ts'
import { isFinal } from '../../core/run/run-state.ts'
import type { RuleSource } from '../../core/schedule/index.ts'
import { formatTime } from '../../core/wire/runs.ts'
import type { NumberedJob, RunRecord, ScheduleRecord, Store } from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import type { LogReader } from '../logs/log-reader.ts'
import type { Uuids } from './uuids.ts'
import { readOutput } from './read-output.ts'
import { writeCompatRecurrence } from './recurrence.ts'
import { payloadOf, shellTextOf } from './shell-text.ts'
import { hasBegun, type JobStatus, jobStatus, runStatus, submittedRunStatus } from './statuses.ts'
import type {
  WireCompatJob,
  WireCompatJobDetail,
  WireSubmittedJob,
  WireSubmittedRun,
} from './wire.ts'

/** Jobs and their runs in the form of either compatibility protocol. */
export interface CompatViews {
  job(job: NumberedJob): Promise<WireCompatJob>
  jobWithLastRun(job: NumberedJob): Promise<WireCompatJobDetail>
  /** With its latest runs, and at most this many bytes of output of each. */
  submitted(job: NumberedJob, most: { runs: number; bytes: number }): Promise<WireSubmittedJob>
}

const NEWEST = Number.MAX_SAFE_INTEGER
/** Maximum output of the last run; the log itself has no such limit. */
const LOG_BYTES = 1024 * 1024
/** Runs read at once in the search for the last one that has begun. */
const PAGE = 100
/** How many of these: a job may have a million runs that wait. */
const MAX_PAGES = 20
const SCHEDULES = 100

export function createCompatViews(deps: {
  readonly store: Store
  readonly catalog: CatalogCache
  readonly reader: LogReader
  readonly jobUuids: Uuids
  readonly runUuids: Uuids
  readonly zone: string
}): CompatViews {
  const { store, catalog, reader, jobUuids, runUuids, zone } = deps

  const schedulesOf = ({ id, projectId }: NumberedJob) =>
    store.listSchedules({ projectId, jobId: id, after: 0, limit: SCHEDULES })

  const compatJob = async (job: NumberedJob, latest: RunRecord | undefined) => {
    const schedules = await schedulesOf(job)
    return {
      id: job.id,
      name: definitionOf(job).title ?? job.name,
      command: shellCommandOf(job),
      schedule: writeCompatRecurrence(rulesOf(schedules), zone),
      created_at: formatTime(job.since, 'created_at'),
      status: await statusOf(job, latest, schedules, store),
    }
  }

  const submittedRun = async (
    run: RunRecord,
    bytes: number,
    sessions: () => ReturnType<Store['listSessions']>,
  ): Promise<WireSubmittedRun> => ({
    run_id: runUuids.of(run.id),
    status: submittedRunStatus(run),
    triggered_at: formatTime(run.dueAt ?? run.createdAt, 'triggered_at'),
    completed_at: timeOf(run.finishedAt),
    output: await readOutput(run, bytes, { reader, store }),
    worker_id: await workerOf(run, store, sessions),
    error_message: errorOf(run),
  })

  /** One after the other: each may read output. */
  const submittedRuns = async (runs: readonly RunRecord[], bytes: number) => {
    const shown: WireSubmittedRun[] = []
    let listed: ReturnType<Store['listSessions']> | undefined
    const sessions = () => (listed ??= store.listSessions())
    for (const run of runs) shown.push(await submittedRun(run, bytes, sessions))
    return shown
  }

  return {
    job: async (job) => compatJob(job, (await runsOf(job, store, 1))[0]),

    async jobWithLastRun(job) {
      const [[latest], last] = await Promise.all([runsOf(job, store, 1), lastBegun(job, store)])
      return {
        ...(await compatJob(job, latest)),
        last_run: last
          ? {
              run_id: last.id,
              job_id: job.id,
              worker_id: await workerOf(last, store),
              start_time: timeOf(last.startedAt),
              end_time: timeOf(last.finishedAt),
              status: runStatus(last),
              exit_code: exitCodeOf(last),
              logs: await readOutput(last, LOG_BYTES, { reader, store }),
            }
          : null,
      }
    },

    async submitted(job, most) {
      const [runs, schedules] = await Promise.all([runsOf(job, store, most.runs), schedulesOf(job)])
      await catalog.learnNames([], [job.projectId])
      const definition = definitionOf(job)
      return {
        job_id: jobUuids.of(job.id),
        user_id: definition.owner ?? null,
        project_id: catalog.projectName(job.projectId),
        payload: payloadOf(definition, shellCommandOf(job)),
        cron_schedule: writeCompatRecurrence(rulesOf(schedules), zone),
        next_fire_at: timeOf(nextFire(runs[0], schedules)),
        max_retries: definition.retry?.max ?? 0,
        status: await statusOf(job, runs[0], schedules, store),
        created_at: formatTime(job.since, 'created_at'),
        runs: await submittedRuns(runs, most.bytes),
      }
    },
  }
}

function runsOf(
  { id, projectId }: NumberedJob,
  store: Store,
  limit: number,
  before = NEWEST,
): Promise<readonly RunRecord[]> {
  return store.listRuns({ projectId, jobId: id, state: null, before, limit })
}

async function lastBegun(job: NumberedJob, store: Store): Promise<RunRecord | undefined> {
  let before = NEWEST
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const runs = await runsOf(job, store, PAGE, before)
    const begun = runs.find(hasBegun)
    if (begun || runs.length < PAGE) return begun
    before = (runs.at(-1) as RunRecord).id
  }
  return undefined
}

/** The worker of a run is known only while the run is running. */
async function workerOf(
  { id, state, fence, worker }: RunRecord,
  store: Store,
  sessions: () => ReturnType<Store['listSessions']> = store.listSessions,
): Promise<string | null> {
  if (state !== 'running' || fence === null) return worker
  const [attempt] = await store.findAttempts([{ runId: id, fence }])
  if (attempt?.kind !== 'lease') return worker
  return (await sessions()).find(({ id: one }) => one === attempt.lease.session)?.name ?? worker
}

async function statusOf(
  job: NumberedJob,
  latest: RunRecord | undefined,
  schedules: readonly ScheduleRecord[],
  store: Store,
): Promise<JobStatus> {
  if (schedules.length === 0) return jobStatus(latest)
  return jobStatus(latest, {
    willRecur: schedules.some(({ next }) => next.nominalAt !== null),
    isRunning: await isRunning(job, latest, store),
  })
}

/** A waiting run may wait for an earlier one of the same job. */
async function isRunning(
  { id, projectId }: NumberedJob,
  latest: RunRecord | undefined,
  store: Store,
): Promise<boolean> {
  if (!latest || isFinal(latest.state)) return false
  if (latest.state === 'running') return true
  const page = { before: latest.id, limit: 1 }
  const running = await store.listRuns({ projectId, jobId: id, state: 'running', ...page })
  return running.length > 0
}

export function definitionOf({ definition }: NumberedJob): JobDefinition {
  return JSON.parse(definition) as JobDefinition
}

export function shellCommandOf(job: NumberedJob): string | null {
  const work = defaultsOf(definitionOf(job), job.name).work ?? null
  return shellTextOf(work)
}

export function rulesOf(schedules: readonly ScheduleRecord[]): RuleSource[] {
  return schedules.map(({ spec }) => decodeSpec<RuleSource>(spec).rule)
}

/** The next scheduled time, if there is one. */
function nextFire(
  latest: RunRecord | undefined,
  schedules: readonly ScheduleRecord[],
): number | null {
  const isDelayed = latest?.state === 'scheduled' && !hasBegun(latest)
  const times = [
    ...(isDelayed ? [latest.dueAt] : []),
    ...schedules.map(({ next, pause }) => (pause ? null : next.nominalAt)),
  ].filter((time) => time !== null)
  return times.length === 0 ? null : Math.min(...times)
}

function errorOf({ state, cause, message }: RunRecord): string | null {
  if (!isFinal(state) || state === 'succeeded') return null
  return message ?? cause ?? state
}

function exitCodeOf({ process }: RunRecord): number | null {
  const end = process === null ? null : (JSON.parse(process) as ProcessEnd)
  return end?.exit_code ?? null
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : formatTime(ms, 'time')
}
