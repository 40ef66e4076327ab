import { PunctualError } from '../../core/errors.ts'
import { publicId } from '../../core/ids.ts'
import { LIMITS } from '../../core/limits.ts'
import type {
  Assignment,
  RunView,
  SchedulerClient,
  SubmitAnswer,
} from '../../core/wire/protocol.ts'
import type { GivenSecret } from '../../core/work/secret.ts'
import { parseRunFilter, type RunFilter } from '../../core/run/run-filter.ts'
import { requireAll, type SubmitOutcome } from '../../core/wire/submit-outcome.ts'
import type { NewRun, Store } from '../../store/port.ts'
import type { Work } from '../../core/work/work.ts'
import type { LaneSpec } from '../../core/queue/lane.ts'
import { auditOf } from '../identity/requested-by.ts'
import type { Catalog } from '../catalog/catalog-cache.ts'
import { encodeCursor, readNumberCursor } from '../paging/cursor.ts'
import type { LogWriter } from '../logs/log-writer.ts'
import { findRun } from '../runs/find-run.ts'
import { listRuns } from '../runs/list-runs.ts'
import type { FlowReading } from '../workflows/views/workflow-reader.ts'
import { triggerOf } from '../runs/follow-ups/trigger-of.ts'
import type { Payloads } from '../payloads/payloads.ts'
import { submitLarge } from '../runs/submit-large.ts'
import { fillView, viewsOf } from '../runs/run-view.ts'
import type { ProgressBoard } from '../runs/progress-table.ts'
import { digestOfRetry, draftRetry, type Retrying } from '../runs/retries/retry-run.ts'
import type { Draft } from '../runs/draft-runs.ts'
import type { Ticker } from '../dispatch/ticker.ts'
import type { Submitted } from '../dispatch/pending.ts'
import { exchange, type Exchanging } from '../workers/exchange.ts'
import { log } from '../workers/store-logs.ts'
import type { Registry } from '../workers/session-registry.ts'
import type { HeldLease } from '../sessions/session.ts'

export interface ClientParts extends Omit<Retrying, 'payloads'> {
  readonly store: Store
  readonly ticker: Ticker
  readonly flowReading: Pick<FlowReading, 'flowOf' | 'stepOf'>
  readonly registry: Registry
  readonly exchanging: Exchanging
  readonly draft: Draft
  readonly logWriter: LogWriter
  readonly payloads: Payloads
  node(): number
  readonly progress: ProgressBoard
  onLog(runId: number): void
  storeNow(): number
}

/** The scheduler as one project sees it, without a wire in between. HTTP speaks through the same object. */
export function createLocalClient(
  project: string,
  actor: number | null,
  parts: ClientParts,
): SchedulerClient {
  const { store, ticker, catalog, registry, payloads } = parts

  const submitDrafts = async (drafts: readonly NewRun[]): Promise<SubmitOutcome[]> => {
    const hasLarge = drafts.some(({ input }) => payloads.isLarge(input))
    const outcomes = hasLarge ? await submitLarge(drafts, parts) : await ticker.submit(drafts)
    return outcomes.map(outcomeOf)
  }

  const find = (id: string) => findRun(project, id, { store, catalog })

  const client: SchedulerClient = {
    submit: async (submissions) => requireAll(await client.submitEach(submissions)),

    async submitEach(submissions) {
      return submitDrafts(await parts.draft(submissions, project, actor))
    },

    async getRun(id) {
      const record = await find(id)
      const [view] = await viewsOf([record], catalog, parts.progress.of)
      const whole = await fillView(view as RunView, record, payloads)
      const { flowOf, stepOf } = parts.flowReading
      const [workflow, step, trigger] = await Promise.all([
        flowOf(record),
        stepOf(record),
        triggerOf(record, parts),
      ])
      return { ...whole, workflow, step, trigger }
    },

    async listRuns(query = {}) {
      const limit = Math.min(query.limit ?? 50, LIMITS.pageSize)
      const before = readNumberCursor(query.cursor)
      const filter: RunFilter = {
        ...parseRunFilter(query.q ?? '', parts.storeNow()),
        ...(query.state === undefined ? {} : { states: new Set([query.state]) }),
        ...(query.job === undefined ? {} : { jobs: [query.job] }),
      }
      const projectId = await catalog.findProject(project)
      if (projectId === null) return { runs: [], next: null }
      const page = await listRuns({ projectId, filter, before, limit }, { store, catalog })
      return {
        runs: await viewsOf(page.runs, catalog, parts.progress.of),
        next: page.before === null ? null : encodeCursor(page.before),
      }
    },

    async cancel(id, cause) {
      const { id: runId, projectId } = await find(id)
      const audit = cause && {
        audit: auditOf({ project, actor, ...cause }, projectId, 'run.cancel', id),
      }
      const verdict = await ticker.cancel({ runId, projectId, ...audit })
      if (verdict instanceof PunctualError) throw verdict
      switch (verdict.kind) {
        case 'cancelled':
          return { id, state: 'cancelled' }
        case 'marked':
          return { id, state: 'cancelling' }
        case 'final':
          throw new PunctualError('run_is_final', `the run has ${verdict.state} already`)
        case 'unknown':
          throw new PunctualError('run_not_found', `there is no run ${id}`)
      }
    },

    async retry(id, key, how = {}) {
      const again = await draftRetry(await find(id), how, actor, parts)
      const until = parts.storeNow() + LIMITS.idempotencyMs
      const digest = digestOfRetry(id, how)
      const idempotency = key === undefined ? null : { key, digest, until }
      const [answer] = requireAll(await submitDrafts([{ ...again, idempotency }]))
      return answer as SubmitAnswer
    },

    register: (hello) => registry.register(hello, project),
    exchange: async (session, message) =>
      exchange(registry.find(session, message.registration, project), message, parts.exchanging),
    heartbeat: async (session, message) =>
      registry.heartbeat(registry.find(session, message.registration, project), message),
    log: async (session, message) =>
      log(registry.find(session, message.registration, project), message, parts),
    leave: async (session, registration) =>
      registry.leave(registry.find(session, registration, project)),
  }
  return client
}

export function assignmentOf(
  lease: HeldLease,
  {
    catalog,
    lane,
    work,
    input,
    secrets,
  }: {
    readonly catalog: Catalog
    readonly lane: Pick<LaneSpec, 'weight' | 'executor'> | undefined
    readonly work: Work | null
    readonly input: string | null
    readonly secrets: readonly GivenSecret[] | undefined
  },
): Assignment {
  const job = catalog.jobName(lease.jobId)
  return {
    run: publicId('run', lease.runId),
    fence: lease.fence,
    job,
    project: catalog.projectName(lease.projectId),
    attempt: lease.attempt,
    weight: lane?.weight ?? 1,
    timeoutMs: lease.timeoutMs,
    dueAt: lease.dueAt ?? lease.createdAt,
    work,
    task: lane ? taskOf(lane.executor, job) : null,
    input,
    ...(secrets && { secrets }),
  }
}

/** The function a lane is for, unless it is named like the job. */
function taskOf(executor: string, job: string): string | null {
  if (!executor.startsWith(HANDLER)) return null
  const task = executor.slice(HANDLER.length)
  return task === job ? null : task
}

const HANDLER = 'handler:'

function outcomeOf(outcome: Submitted | PunctualError): SubmitOutcome {
  if (outcome instanceof PunctualError) return outcome
  return { id: publicId('run', outcome.id), created: outcome.created }
}
