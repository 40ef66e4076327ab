import { decodeSpec } from '../../core/schedule/firing/schedule-spec.ts'
import { publicId } from '../../core/ids.ts'
import { defaultsOf, type JobDefinition } from '../../core/job/job-definition.ts'
import { isFinal } from '../../core/run/run-state.ts'
import type { RuleSource } from '../../core/schedule/index.ts'
import { formatTime } from '../../core/wire/runs.ts'
import type { NumberedJob, RunRecord, ScheduleRecord, Store } from '../../store/port.ts'
import type { Catalog } from '../catalog/catalog-cache.ts'
import type { LogReader } from '../logs/log-reader.ts'
import type { JobUuids } from './uuids.ts'
import { readOutput } from './read-output.ts'
import { writeRecurrence } from './recurrence.ts'
import { payloadOf, shellText } from './shell-text.ts'
import { hasBegun, jobStatus, runStatus } from './statuses.ts'
import type {
  WirePlainJob,
  WirePlainJobDetail,
  WireSubmittedJob,
  WireSubmittedRun,
} from './wire.ts'

/** Jobs and their runs in the words of either of the old protocols. */
export interface Showing {
  job(job: NumberedJob): Promise<WirePlainJob>
  jobWithLastRun(job: NumberedJob): Promise<WirePlainJobDetail>
  /** With its latest runs, and at most so many bytes of what each printed. */
  submitted(job: NumberedJob, most: { runs: number; bytes: number }): Promise<WireSubmittedJob>
}

const NEWEST = Number.MAX_SAFE_INTEGER
/** Of what the last run printed; the log itself has no such end. */
const LOG_BYTES = 1024 * 1024
/** Runs looked at in one go for the last that has begun. */
const PAGE = 20
const SCHEDULES = 100

export function createShowing(deps: {
  readonly store: Store
  readonly catalog: Catalog
  readonly reader: LogReader
  readonly uuids: JobUuids
  readonly zone: string
}): Showing {
  const { store, catalog, reader, uuids, zone } = deps

  const runsOf = ({ id, projectId }: NumberedJob, limit: number, before = NEWEST) =>
    store.listRuns({ projectId, jobId: id, state: null, before, limit })

  const schedulesOf = ({ id, projectId }: NumberedJob) =>
    store.listSchedules({ projectId, jobId: id, after: 0, limit: SCHEDULES })

  const lastBegun = async (job: NumberedJob): Promise<RunRecord | undefined> => {
    for (let before = NEWEST; ;) {
      const runs = await runsOf(job, PAGE, before)
      const begun = runs.find(hasBegun)
      if (begun || runs.length < PAGE) return begun
      before = (runs.at(-1) as RunRecord).id
    }
  }

  /** Who has it in hand is known only while somebody has. */
  const workerOf = async ({ id, state, fence, worker }: RunRecord): Promise<string | null> => {
    if (state !== 'running' || fence === null) return worker
    const [attempt] = await store.findAttempts([{ runId: id, fence }])
    if (attempt?.kind !== 'lease') return worker
    const sessions = await store.listSessions()
    return sessions.find((session) => session.id === attempt.lease.session)?.name ?? worker
  }

  const plainJob = async (job: NumberedJob, latest: RunRecord | undefined) => ({
    id: job.id,
    name: definitionOf(job).title ?? job.name,
    command: commandOf(job),
    schedule: writeRecurrence(rulesOf(await schedulesOf(job)), zone),
    created_at: formatTime(job.since, 'created_at'),
    status: jobStatus(latest),
  })

  const submittedRun = async (run: RunRecord, bytes: number): Promise<WireSubmittedRun> => ({
    run_id: publicId('run', run.id),
    status: jobStatus(run),
    triggered_at: formatTime(run.dueAt ?? run.createdAt, 'triggered_at'),
    completed_at: timeOf(run.finishedAt),
    output: await readOutput(run, bytes, { reader, store }),
    worker_id: await workerOf(run),
    error_message: errorOf(run),
  })

  return {
    job: async (job) => plainJob(job, (await runsOf(job, 1))[0]),

    async jobWithLastRun(job) {
      const [[latest], last] = await Promise.all([runsOf(job, 1), lastBegun(job)])
      return {
        ...(await plainJob(job, latest)),
        last_run: last
          ? {
              run_id: last.id,
              job_id: job.id,
              worker_id: await workerOf(last),
              start_time: timeOf(last.startedAt),
              end_time: timeOf(last.finishedAt),
              status: runStatus(last),
              logs: await readOutput(last, LOG_BYTES, { reader, store }),
            }
          : null,
      }
    },

    async submitted(job, most) {
      const [runs, schedules] = await Promise.all([runsOf(job, most.runs), schedulesOf(job)])
      await catalog.learnNames([], [job.projectId])
      const definition = definitionOf(job)
      return {
        job_id: uuids.of(job.id),
        user_id: definition.owner ?? null,
        project_id: catalog.projectName(job.projectId),
        payload: payloadOf(definition, commandOf(job)),
        cron_schedule: writeRecurrence(rulesOf(schedules), zone),
        next_fire_at: timeOf(nextFire(runs[0], schedules)),
        max_retries: definition.retry?.max ?? 0,
        status: jobStatus(runs[0]),
        created_at: formatTime(job.since, 'created_at'),
        runs: await Promise.all(runs.map((run) => submittedRun(run, most.bytes))),
      }
    },
  }
}

export function definitionOf({ definition }: NumberedJob): JobDefinition {
  return JSON.parse(definition) as JobDefinition
}

export function commandOf(job: NumberedJob): string | null {
  const work = defaultsOf(definitionOf(job), job.name).work ?? null
  return shellText(work)
}

export function rulesOf(schedules: readonly ScheduleRecord[]): RuleSource[] {
  return schedules.map(({ spec }) => decodeSpec<RuleSource>(spec).rule)
}

/** The next time it does something by itself, if there is one to come. */
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

function timeOf(ms: number | null): string | null {
  return ms === null ? null : formatTime(ms, 'time')
}
