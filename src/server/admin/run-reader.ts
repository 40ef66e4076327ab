import type { Clock } from '../../core/clock.ts'
import { PunctualError } from '../../core/errors.ts'
import { publicId } from '../../core/ids.ts'
import type { ProcessEnd } from '../../core/run/output.ts'
import { isFinal } from '../../core/run/run-state.ts'
import type { WireAttempt, WireLog, WireLogSearch, WireWhy } from '../../core/wire/views.ts'
import { formatTime, writeProgress } from '../../core/wire/runs.ts'
import type { AttemptRecord, RunRecord, Store } from '../../store/port.ts'
import type { Workers } from './workers.ts'
import type { Catalog } from '../catalog/catalog-cache.ts'
import { findRun } from '../runs/find-run.ts'
import type { FlowReading } from '../workflows/views/workflow-reader.ts'
import { followersAfter, triggerOf } from '../runs/follow-ups/trigger-of.ts'
import { createLiveLogs, type Followed, type FollowOptions } from '../logs/live-log.ts'
import { createLogReader, type LoggedAttempt, noLog } from '../logs/log-reader.ts'
import { createLogSearch, type SearchOptions } from '../logs/search/search.ts'
import type { ProgressBoard } from '../runs/progress-table.ts'
import type { QueueBook } from '../dispatch/queue-settings-cache.ts'
import type { LaneBoard } from '../dispatch/lane-index.ts'
import type { Watch } from '../runs/watch.ts'
import { madeBy } from '../schedules/schedule-origin.ts'
import { findWaitingCircle } from '../workflows/views/find-wait-cycle.ts'
import { explain, reasonOf, type Surroundings } from '../explanations/why-run.ts'
import { MOST_AHEAD } from '../explanations/why-ready.ts'

/** Everything that can be read about one run. */
export interface RunReading {
  find(project: string, id: string): Promise<RunRecord>
  /** The run once it has ended, or as it is after this time. */
  wait(project: string, id: string, mostMs: number, signal: AbortSignal): Promise<RunRecord>
  attempts(project: string, id: string): Promise<WireAttempt[]>
  why(project: string, id: string): Promise<WireWhy>
  log(project: string, id: string, part: LogPart): Promise<WireLog>
  searchLog(
    project: string,
    id: string,
    what: SearchOptions & { readonly attempt?: number | undefined },
    signal: AbortSignal,
  ): Promise<WireLogSearch>
  rawLog(project: string, id: string, attempt?: number): Promise<AsyncGenerator<Buffer>>
  /**
   * What it prints while it prints it, attempt after attempt, until the run has ended or the signal
   * aborts; only of one attempt if that is asked for.
   */
  follow(
    project: string,
    id: string,
    from: FollowOptions,
    signal: AbortSignal,
  ): AsyncGenerator<Followed>
}

export interface LogPart {
  readonly attempt?: number | undefined
  readonly from?: number | undefined
  readonly limit?: number | undefined
  readonly tail?: number | undefined
}

const LINES = 1_000

export function createRunReading(deps: {
  readonly store: Store
  readonly catalog: Catalog
  readonly workers: Workers
  readonly queues: QueueBook
  readonly flowReading: Pick<FlowReading, 'standingOf' | 'stepOf'>
  readonly watch: Watch
  readonly clock: Clock
  readonly progress: Pick<ProgressBoard, 'of'>
  storeNow(): number
  mayPromise(): boolean
  readonly board: Pick<LaneBoard, 'isRoomKept'>
}): RunReading {
  const { store, catalog, watch } = deps
  const reader = createLogReader(store)
  const search = createLogSearch({ store, reader, clock: deps.clock })
  const live = createLiveLogs({
    ...{ watch, reader, store },
    async findRun(runId) {
      const [run] = await store.findRuns({ runIds: [runId] })
      if (!run)
        throw new PunctualError('run_not_found', `there is no run ${publicId('run', runId)}`)
      return run
    },
  })

  const find = (project: string, id: string) => findRun(project, id, { store, catalog })

  const attemptOf = async (run: RunRecord, id: string, wanted: number | undefined) => {
    const attempt = await reader.find(run, wanted)
    if (!attempt) throw noLog(id)
    return attempt
  }

  const readPart = (attempt: LoggedAttempt, { from = 0, limit = LINES, tail }: LogPart) =>
    tail === undefined ? reader.read(attempt, from, limit) : reader.tail(attempt, tail)

  const lookAround = async (project: string, run: RunRecord): Promise<Surroundings> => {
    await catalog.learnNames([run.jobId], [])
    const lane = await catalog.lane(run.laneId)
    return {
      now: deps.storeNow(),
      lane,
      workers: await deps.workers.list(project),
      mayPromise: deps.mayPromise(),
      isRoomKept: lane !== undefined && deps.board.isRoomKept(lane.id),
      wait: await store.waitOf({ runId: run.id, most: MOST_AHEAD }),
      made: await madeBy(run, { store, catalog }),
      flow: await deps.flowReading.standingOf(run),
      heldUp: null,
      circle: await findWaitingCircle(run, deps),
      step: await deps.flowReading.stepOf(run),
      trigger: await triggerOf(run, { store, catalog }),
      followers: await followersAfter(run, { store, catalog }),
      // Only runs that had a time may be of a schedule.
      lapses: run.dueAt === null ? [] : await store.lapsesOf([run.id]),
      ...(lane ? await deps.queues.standingOf(lane) : { paused: null, rate: null }),
    }
  }

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
      const said = deps.progress.of(run)
      const progress = said && writeProgress(said)
      const around = await lookAround(project, run)
      const held = around.flow?.heldUp
      const heldUp = held && {
        ...{ step: held.step, ...reasonOf(held.run, await lookAround(project, held.run)) },
      }
      return { ...explain(run, { ...around, heldUp: heldUp ?? null }), progress }
    },

    async log(project, id, part) {
      const run = await find(project, id)
      return readPart(await attemptOf(run, id, part.attempt), part)
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

function showLast(run: RunRecord): WireAttempt {
  const { attempt, cause, message, worker, process, startedAt, finishedAt, state } = run
  const shown = isFinal(state) ? state : 'running'
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
