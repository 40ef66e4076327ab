import type { Clock } from '../../core/clock.ts'
import { PunctualError } from '../../core/errors.ts'
import { publicId } from '../../core/ids.ts'
import type { ProcessEnd } from '../../core/run/output.ts'
import { isFinal } from '../../core/run/run-state.ts'
import type { WireAttempt, WireLogSearch, WireWhy } from '../../core/wire/views.ts'
import { formatTime, writeProgress } from '../../core/wire/runs.ts'
import type { AttemptRecord, RunRecord, Store } from '../../store/port.ts'
import type { WorkerAdmin } from './workers.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import { findProjectRun } from '../runs/find-run.ts'
import type { WorkflowReader } from '../workflows/views/workflow-reader.ts'
import { followersAfter, triggerOf } from '../runs/follow-ups/trigger-of.ts'
import { createLiveLogs, type FollowedOutput, type FollowOptions } from '../logs/live-log.ts'
import { createLogReader, type LoggedAttempt, noLog } from '../logs/log-reader.ts'
import { createLogSearch, type SearchOptions } from '../logs/search/search.ts'
import type { ProgressTable } from '../runs/progress-table.ts'
import type { QueueSettingsCache } from '../dispatch/queue-settings-cache.ts'
import type { LaneIndex } from '../dispatch/lanes/lane-index.ts'
import type { Watch } from '../runs/watch.ts'
import { madeBy } from '../schedules/schedule-origin.ts'
import { findWaitCycle } from '../workflows/views/find-wait-cycle.ts'
import type { FormerSessions } from '../workers/former-sessions.ts'
import { explainRun, reasonForRun, type RunContext } from '../explanations/why-run.ts'
import { MOST_AHEAD } from '../explanations/why-ready.ts'

/** Everything that can be read about one run. */
export interface RunReader {
  find(project: string, id: string): Promise<RunRecord>
  /** The run once it has ended, or as it is after this time. */
  wait(project: string, id: string, mostMs: number, signal: AbortSignal): Promise<RunRecord>
  attempts(project: string, id: string): Promise<WireAttempt[]>
  why(project: string, id: string): Promise<WireWhy>
  /** A page of the log, as the JSON of a `WireLog`. */
  log(project: string, id: string, part: LogPart): Promise<string>
  searchLog(
    project: string,
    id: string,
    what: SearchOptions & { readonly attempt?: number | undefined },
    signal: AbortSignal,
  ): Promise<WireLogSearch>
  rawLog(project: string, id: string, attempt?: number): Promise<AsyncGenerator<Buffer>>
  /**
   * Streams the output while it is printed, attempt after attempt, until the run has ended or the
   * signal aborts; or of one attempt only.
   */
  follow(
    project: string,
    id: string,
    from: FollowOptions,
    signal: AbortSignal,
  ): AsyncGenerator<FollowedOutput>
}

export interface LogPart {
  readonly attempt?: number | undefined
  readonly from?: number | undefined
  readonly limit?: number | undefined
  readonly tail?: number | undefined
}

const LINES = 1_000

interface RunReaderDeps {
  readonly store: Store
  readonly catalog: CatalogCache
  readonly workers: WorkerAdmin
  readonly queues: QueueSettingsCache
  readonly workflowReader: Pick<WorkflowReader, 'statusOf' | 'stepOf'>
  readonly watch: Watch
  readonly clock: Clock
  readonly progress: Pick<ProgressTable, 'of'>
  storeNow(): number
  mayPromise(): boolean
  readonly laneIndex: Pick<LaneIndex, 'isSlotReserved'>
  readonly formerSessions: Pick<FormerSessions, 'awaitedFor'>
}

export function createRunReader(deps: RunReaderDeps): RunReader {
  const { store, catalog, watch } = deps
  const readContext = createContextReader(deps)
  const reader = createLogReader(store, deps.clock)
  const search = createLogSearch({ store, reader, clock: deps.clock })
  const live = createLiveLogs({
    watch,
    reader,
    store,
    async findRun(runId) {
      const [run] = await store.findRuns({ runIds: [runId] })
      if (!run)
        throw new PunctualError('run_not_found', `there is no run ${publicId('run', runId)}`)
      return run
    },
  })

  const find = (project: string, id: string) => findProjectRun(project, id, { store, catalog })

  const attemptOf = async (run: RunRecord, id: string, wanted: number | undefined) => {
    const attempt = await reader.find(run, wanted)
    if (!attempt) throw noLog(id)
    return attempt
  }

  const readPart = (attempt: LoggedAttempt, { from = 0, limit = LINES, tail }: LogPart) =>
    tail === undefined ? reader.read(attempt, from, limit) : reader.tail(attempt, tail)

  return {
    find,

    async wait(project, id, mostMs, signal) {
      const { id: runId } = await find(project, id)
      return watch.end(runId, () => find(project, id), mostMs, signal)
    },

    async attempts(project, id) {
      const run = await find(project, id)
      const earlier = await store.attemptsOf({ runId: run.id })
      return [...earlier.map((one) => showAttempt(one, 'retried')), showLast(run)]
    },

    async why(project, id) {
      const run = await find(project, id)
      const reported = deps.progress.of(run)
      const progress = reported && writeProgress(reported)
      const context = await readContext(project, run)
      const held = context.workflow?.blocked
      const blockedStep = held && {
        step: held.step,
        ...reasonForRun(held.run, await readContext(project, held.run)),
      }
      return { ...explainRun(run, { ...context, blockedStep: blockedStep ?? null }), progress }
    },

    async log(project, id, part) {
      const run = await find(project, id)
      return reader.write(await readPart(await attemptOf(run, id, part.attempt), part))
    },

    async searchLog(project, id, { attempt, ...what }, signal) {
      return search.search(await attemptOf(await find(project, id), id, attempt), what, signal)
    },

    async rawLog(project, id, attempt) {
      return reader.raw(await attemptOf(await find(project, id), id, attempt))
    },

    async *follow(project, id, from, signal) {
      const { id: runId } = await find(project, id)
      yield* live.follow(runId, from, signal)
    },
  }
}

/** Reads what explains the state of a run. */
function createContextReader(
  deps: RunReaderDeps,
): (project: string, run: RunRecord) => Promise<RunContext> {
  const { store, catalog } = deps

  /** Whether no live node knows the session that holds the run. */
  const absenceOf = async ({ id, fence }: RunRecord): Promise<RunContext['lostWorker']> => {
    if (fence === null) return null
    const [found] = await store.findAttempts([{ runId: id, fence }])
    if (found?.kind !== 'lease') return null
    const { session } = found.lease
    // The row of its node may not have expired yet.
    const awaited = deps.formerSessions.awaitedFor(session)
    if (awaited !== undefined) return { awaited }
    const sessions = await store.listSessions()
    return sessions.some((one) => one.id === session) ? null : { awaited }
  }

  const lostAttemptsOf = async ({ id }: RunRecord) =>
    (await store.attemptsOf({ runId: id })).filter(({ cause }) => cause === 'lost')

  return async (project, run) => {
    await catalog.learnNames([run.jobId], [])
    const lane = await catalog.lane(run.laneId)
    return {
      now: deps.storeNow(),
      lane,
      workers: await deps.workers.list(project),
      lostWorker: run.state === 'running' ? await absenceOf(run) : null,
      mayPromise: deps.mayPromise(),
      isSlotReserved: lane !== undefined && deps.laneIndex.isSlotReserved(lane.id),
      wait: await store.waitOf({ runId: run.id, maxCount: MOST_AHEAD }),
      schedule: await madeBy(run, { store, catalog }),
      workflow: await deps.workflowReader.statusOf(run),
      blockedStep: null,
      cycle: await findWaitCycle(run, deps),
      step: await deps.workflowReader.stepOf(run),
      trigger: await triggerOf(run, { store, catalog }),
      followers: await followersAfter(run, { store, catalog }),
      lostAttempts: run.lost === 0 ? [] : await lostAttemptsOf(run),
      // Only runs with a due time can belong to a schedule.
      violations: run.dueAt === null ? [] : await store.violationsOf([run.id]),
      ...(lane ? await deps.queues.statusOf(lane) : { paused: null, rate: null }),
    }
  }
}

function showLast(run: RunRecord): WireAttempt {
  const { attempt, cause, message, worker, process, startedAt, finishedAt, state } = run
  const shown = isFinal(state) || state === 'running' ? state : 'waiting'
  return showAttempt({ attempt, cause, message, worker, process, startedAt, finishedAt }, shown)
}

function showAttempt(
  one: Omit<AttemptRecord, 'fence' | 'startedAt' | 'finishedAt'> & {
    readonly startedAt: number | null
    readonly finishedAt: number | null
  },
  state: WireAttempt['state'],
): WireAttempt {
  const process = one.process === null ? null : (JSON.parse(one.process) as ProcessEnd)
  return {
    attempt: one.attempt,
    state,
    cause: one.cause,
    message: one.message,
    worker: one.worker,
    exit_code: process?.exit_code ?? null,
    signal: process?.signal ?? null,
    started_at: one.startedAt === null ? null : formatTime(one.startedAt, 'started_at'),
    finished_at: one.finishedAt === null ? null : formatTime(one.finishedAt, 'finished_at'),
  }
}
