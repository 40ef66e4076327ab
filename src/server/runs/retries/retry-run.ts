import { createHash } from 'node:crypto'
import { PunctualError } from '../../../core/errors.ts'
import { FLOW_EXECUTOR, type RetryNames } from '../../../core/work/workflow-work.ts'
import { LIMITS } from '../../../core/limits.ts'
import { nearestName } from '../../../core/text/nearest.ts'
import { readRetryNames, type RetryHow } from '../../../core/run/retry-options.ts'
import { isFinal } from '../../../core/run/run-state.ts'
import { encodeWork } from '../../../core/work/work.ts'
import type { NewRun, RunRecord } from '../../../store/port.ts'
import type { Catalog } from '../../catalog/catalog-cache.ts'
import type { WorkflowBook } from '../../workflows/compiled-workflow-cache.ts'
import type { Payloads } from '../../payloads/payloads.ts'
import type { Replay } from './replay-run.ts'
import type { TimeFor } from './scheduled-time.ts'

export interface Retrying {
  readonly catalog: Catalog
  readonly payloads: Pick<Payloads, 'read'>
  readonly book: WorkflowBook
  readonly replay: Replay
  readonly timeFor: TimeFor
  mintId(): number
}

/** The run that repeats a finished one, as much of it as is wanted. */
export async function draftRetry(
  run: RunRecord,
  how: RetryHow,
  actor: number | null,
  parts: Retrying,
): Promise<NewRun> {
  if (!isFinal(run.state)) {
    const message = `the run is ${run.state}; only a finished run can be retried`
    throw new PunctualError('run_not_final', message)
  }
  const names = readRetryNames(how)
  // A copy, kept under the new run: what two runs shared, nobody could safely delete.
  const input = run.input && (await parts.payloads.read(run.id, 'input', run.input))
  if (how.version !== undefined || how.input !== undefined) {
    return parts.replay({ ...run, input }, how, actor)
  }
  const again = againOf({ ...run, input }, parts.mintId(), actor)
  const work = await workAgain(run, names, parts)
  return { ...again, work }
}

/** What a workflow says of how it repeats another is about that one: the next says its own. */
async function workAgain(
  run: RunRecord,
  names: RetryNames | undefined,
  { catalog, book, timeFor }: Retrying,
): Promise<string | null> {
  const lane = await catalog.lane(run.laneId)
  if (lane?.executor !== FLOW_EXECUTOR) {
    if (names) throw notAWorkflow()
    return run.work
  }
  const scheduled = { scheduled_at: await timeFor(run) }
  if (!names) return encodeWork({ executor: FLOW_EXECUTOR, ...scheduled })
  await catalog.learnNames([run.jobId], [])
  const job = catalog.jobName(run.jobId)
  const { jobId, version } = run
  const compiled = version === null ? null : await book.find({ jobId, version, job })
  const known = compiled?.indexOf ?? new Map<string, number>()
  requireSteps(names.from ?? [], known, 'from')
  requireSteps(names.skip ?? [], known, 'skip')
  return encodeWork({ executor: FLOW_EXECUTOR, retry: names, ...scheduled })
}

function requireSteps(
  names: readonly string[],
  known: ReadonlyMap<string, number>,
  field: string,
): void {
  const unknown = names.find((name) => !known.has(name))
  if (unknown === undefined) return
  const meant = nearestName(unknown, [...known.keys()].slice(0, LIMITS.pageSize))
  const advice = meant === undefined ? '' : `; did you mean ${meant}?`
  const message = `the run has no step ${unknown}${advice}`
  throw new PunctualError('step_not_found', message, { field })
}

function notAWorkflow(): PunctualError {
  const message = 'the run has no steps, so it can only be done again as a whole'
  return new PunctualError('invalid_field', message, { field: 'only' })
}

/** Tells a repeat of a request from another one under the same key. */
export function digestOfRetry(id: string, how: RetryHow): string {
  if (Object.keys(how).length === 0) return `retry of ${id}`
  const said = createHash('sha256').update(JSON.stringify(how)).digest('base64url')
  return `retry of ${id} ${said}`
}

/** A manual retry is the same work as a new run, now, whatever keys and delays the old one had. */
export function againOf(run: RunRecord, id: number, createdBy: number | null): NewRun {
  const { projectId, jobId, laneId, rank, timeoutMs, policy, input, tags, gates } = run
  const { version, work } = run
  return {
    ...{ id, projectId, jobId, laneId, rank, timeoutMs, policy, input, tags, gates },
    ...{ version, work, createdBy },
    dueAt: null,
    dedupeKey: null,
    idempotency: null,
    retryOf: run.id,
    handOff: null,
  }
}
