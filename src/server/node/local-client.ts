import { PunctualError } from '../../core/errors.ts'
import { publicId } from '../../core/ids.ts'
import { LIMITS } from '../../core/limits.ts'
import type {
  ListQuery,
  RunPage,
  RunView,
  SchedulerClient,
  SubmitAnswer,
} from '../../core/wire/protocol.ts'
import { parseRunFilter, type RunFilter } from '../../core/run/run-filter.ts'
import type { FinalState } from '../../core/run/run-state.ts'
import { throwFirstError, type SubmitOutcome } from '../../core/wire/submit-outcome.ts'
import type { NewRun, Store } from '../../store/port.ts'
import { auditEntryFor } from '../identity/requested-by.ts'
import { encodeRunCursor, readRunCursor, type RunPlace } from '../paging/cursor.ts'
import { findProjectRun } from '../runs/find-run.ts'
import { futureIdsFrom, listFutureRunsLast } from '../runs/list-future-runs.ts'
import { queryRunPage } from '../runs/list-runs.ts'
import type { WorkflowReader } from '../workflows/views/workflow-reader.ts'
import { triggerOf } from '../runs/follow-ups/trigger-of.ts'
import type { Payloads } from '../payloads/payloads.ts'
import { fillView, viewsOf } from '../runs/run-view.ts'
import type { RunCreators } from '../runs/run-creators.ts'
import type { ProgressTable } from '../runs/progress-table.ts'
import { digestOfRetry, draftRetry, type RetryDeps } from '../runs/retries/retry-run.ts'
import type { DraftRuns } from '../runs/draft-runs.ts'
import type { Ticker } from '../dispatch/ticker.ts'
import type { Submitted } from '../dispatch/pending.ts'
import { INTERNAL } from '../identity/principal.ts'
import type { ExchangeContext } from '../workers/exchange.ts'
import type { LogContext } from '../workers/store-logs.ts'
import type { SessionRegistry } from '../workers/session-registry.ts'
import { createWorking } from '../workers/worker-protocol.ts'
import { submitLarge } from '../runs/submit-large.ts'

const ENDED = {
  succeeded: 'has already succeeded',
  failed: 'has already failed',
  cancelled: 'was already cancelled',
  skipped: 'was already skipped',
} as const satisfies Record<FinalState, string>

export interface ClientParts extends Omit<RetryDeps, 'payloads'> {
  readonly store: Store
  readonly ticker: Ticker
  readonly workflowReader: Pick<WorkflowReader, 'workflowOf' | 'stepOf'>
  readonly registry: SessionRegistry
  readonly exchanging: ExchangeContext
  readonly draft: DraftRuns
  readonly logging: LogContext
  readonly payloads: Payloads
  node(): number
  readonly progress: ProgressTable
  readonly creators: RunCreators
  storeNow(): number
  /** Whether runs may exist whose ids were minted by a clock that was ahead. */
  hasFutureIds(): boolean
}

/**
 * The scheduler as one project sees it, without a network in between. The HTTP API uses the same
 * object.
 */
export function createLocalClient(
  project: string,
  actor: number | null,
  parts: ClientParts,
): SchedulerClient {
  const { store, ticker, catalog, payloads, creators } = parts
  const shown = { progressOf: parts.progress.of, creators }

  const submitDrafts = async (drafts: readonly NewRun[]): Promise<SubmitOutcome[]> => {
    const hasLarge = drafts.some(({ input }) => payloads.isLarge(input))
    const outcomes = hasLarge ? await submitLarge(drafts, parts) : await ticker.submit(drafts)
    return outcomes.map(outcomeOf)
  }

  const find = (id: string) => findProjectRun(project, id, { store, catalog })

  const client: SchedulerClient = {
    submit: async (submissions) => throwFirstError(await client.submitEach(submissions)),

    async submitEach(submissions) {
      return submitDrafts(await parts.draft(submissions, project, actor))
    },

    async getRun(id) {
      const record = await find(id)
      const [view] = await viewsOf([record], catalog, shown)
      const whole = await fillView(view as RunView, record, parts)
      const { workflowOf, stepOf } = parts.workflowReader
      const [workflow, step, trigger] = await Promise.all([
        workflowOf(record),
        stepOf(record),
        triggerOf(record, parts),
      ])
      return { ...whole, workflow, step, trigger }
    },

    listRuns: (query = {}) => listRuns(project, query, parts),

    async cancel(id, cause) {
      const { id: runId, projectId } = await find(id)
      const audit = cause && {
        audit: auditEntryFor({ project, actor, ...cause }, projectId, 'run.cancel', id),
      }
      const verdict = await ticker.cancel({ runId, projectId, ...audit })
      if (verdict instanceof PunctualError) throw verdict
      switch (verdict.kind) {
        case 'cancelled':
          return { id, state: 'cancelled' }
        case 'marked':
          return { id, state: 'cancelling' }
        case 'final':
          throw new PunctualError('run_is_final', `the run ${ENDED[verdict.state]}`)
        case 'unknown':
          throw new PunctualError('run_not_found', `there is no run ${id}`)
      }
    },

    async retry(id, key, how = {}) {
      const again = await draftRetry(await find(id), how, actor, parts)
      const until = parts.storeNow() + LIMITS.idempotencyMs
      const idempotency =
        key === undefined ? null : { key, digest: await digestOfRetry(id, how, parts.clock), until }
      const [answer] = throwFirstError(await submitDrafts([{ ...again, idempotency }]))
      return answer as SubmitAnswer
    },

    // Workers in this process: their sessions cannot be reached over HTTP.
    ...createWorking({ project, principal: INTERNAL }, parts),
  }
  return client
}

async function listRuns(project: string, query: ListQuery, parts: ClientParts): Promise<RunPage> {
  const { store, catalog, creators } = parts
  const shown = { progressOf: parts.progress.of, creators }
  const limit = Math.min(query.limit ?? 50, LIMITS.pageSize)
  const place = runPlace(query.cursor, parts)
  const filter: RunFilter = {
    ...parseRunFilter(query.q ?? '', parts.storeNow()),
    ...(query.state === undefined ? {} : { states: new Set([query.state]) }),
    ...(query.job === undefined ? {} : { jobs: [query.job] }),
  }
  const projectId = await catalog.findProject(project)
  if (projectId === null) return { runs: [], next: null }
  const list = (input: { filter: RunFilter; before: number; limit: number }) =>
    queryRunPage({ projectId, ...input }, store)
  const { before, aheadFrom } = place
  const page = await (aheadFrom === null
    ? list({ filter, before, limit })
    : listFutureRunsLast(list, { filter, limit }, { before, aheadFrom }))
  return {
    runs: await viewsOf(page.runs, catalog, shown),
    next: page.before === null ? null : encodeRunCursor({ before: page.before, aheadFrom }),
  }
}

/**
 * A walk keeps the boundary of its first page, also on another node and after the clock moved on.
 */
function runPlace(cursor: string | undefined, parts: ClientParts): RunPlace {
  if (cursor !== undefined) return readRunCursor(cursor)
  const aheadFrom = parts.hasFutureIds() ? futureIdsFrom(parts.storeNow()) : null
  return { before: Number.MAX_SAFE_INTEGER, aheadFrom }
}

function outcomeOf(outcome: Submitted | PunctualError): SubmitOutcome {
  if (outcome instanceof PunctualError) return outcome
  return { id: publicId('run', outcome.id), created: outcome.created }
}
