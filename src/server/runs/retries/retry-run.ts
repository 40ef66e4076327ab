import { createHash } from 'node:crypto'
import type { Clock } from '../../../core/clock.ts'
import { PunctualError } from '../../../core/errors.ts'
import { WORKFLOW_EXECUTOR, type NamedRetryScope } from '../../../core/work/workflow-work.ts'
import { writingJson } from '../../../core/text/json-text.ts'
import { LIMITS } from '../../../core/limits.ts'
import { nearestName } from '../../../core/text/nearest.ts'
import { readRetryScope, type RetryOptions } from '../../../core/run/retry-options.ts'
import { isFinal } from '../../../core/run/run-state.ts'
import { encodeWork } from '../../../core/work/work.ts'
import type { NewRun, RunRecord } from '../../../store/port.ts'
import type { CatalogCache } from '../../catalog/catalog-cache.ts'
import type { CompiledWorkflowCache } from '../../workflows/compiled-workflow-cache.ts'
import type { Payloads } from '../../payloads/payloads.ts'
import type { ReplayRun } from './replay-run.ts'
import { runInSlices } from '../../loops/run-in-slices.ts'
import { textWith } from '../draft-runs.ts'
import type { ScheduledTimeOf } from './scheduled-time.ts'

export interface RetryDeps {
  readonly catalog: CatalogCache
  readonly payloads: Pick<Payloads, 'read'>
  readonly compiledWorkflows: CompiledWorkflowCache
  readonly replay: ReplayRun
  readonly timeFor: ScheduledTimeOf
  readonly clock: Pick<Clock, 'mono'>
  mintId(): number
}

/** Drafts the run that repeats a finished one, completely or in part. */
export async function draftRetry(
  run: RunRecord,
  how: RetryOptions,
  actor: number | null,
  parts: RetryDeps,
): Promise<NewRun> {
  if (!isFinal(run.state)) {
    const message = `the run is ${run.state}; only a finished run can be retried`
    throw new PunctualError('run_not_final', message)
  }
  const names = readRetryScope(how)
  // A copy under the new run: a blob shared by two runs could never be deleted safely.
  const input = run.input && (await parts.payloads.read(run.id, 'input', run.input))
  if (how.version !== undefined || how.input !== undefined) {
    return parts.replay({ ...run, input }, how, actor)
  }
  const again = repeatOf({ ...run, input }, parts.mintId(), actor)
  const work = await workAgain(run, names, parts)
  return { ...again, work }
}

/**
 * The work of a repeated workflow without its own repeat settings, because the new run brings
 * others.
 */
async function workAgain(
  run: RunRecord,
  names: NamedRetryScope | undefined,
  { catalog, compiledWorkflows, timeFor }: RetryDeps,
): Promise<string | null> {
  const lane = await catalog.lane(run.laneId)
  if (lane?.executor !== WORKFLOW_EXECUTOR) {
    if (names) throw notAWorkflow()
    return run.work
  }
  const scheduled = { scheduled_at: await timeFor(run) }
  if (!names) return encodeWork({ executor: WORKFLOW_EXECUTOR, ...scheduled })
  await catalog.learnNames([run.jobId], [])
  const job = catalog.jobName(run.jobId)
  const { jobId, version } = run
  const compiled = version === null ? null : await compiledWorkflows.find({ jobId, version, job })
  const known = compiled?.indexOf ?? new Map<string, number>()
  requireSteps(names.from ?? [], known, 'from')
  requireSteps(names.skip ?? [], known, 'skip')
  return encodeWork({ executor: WORKFLOW_EXECUTOR, retry: names, ...scheduled })
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

/** Digest that distinguishes a repeated request from a different one with the same key. */
export async function digestOfRetry(
  id: string,
  how: RetryOptions,
  clock: Pick<Clock, 'mono'>,
): Promise<string> {
  if (Object.keys(how).length === 0) return `retry of ${id}`
  const { input } = how
  const text = input === undefined ? undefined : await runInSlices(writingJson(input), clock)
  const digest = createHash('sha256')
    .update(text === undefined ? JSON.stringify(how) : textWith(how, text))
    .digest('base64url')
  return `retry of ${id} ${digest}`
}

/**
 * A manual retry runs the same work as a new run, now, without the keys and delays of the old one.
 */
export function repeatOf(run: RunRecord, id: number, createdBy: number | null): NewRun {
  const { projectId, jobId, laneId, rank, timeoutMs, policy, input, tags, gates } = run
  const { version, work } = run
  return {
    id,
    projectId,
    jobId,
    laneId,
    rank,
    timeoutMs,
    policy,
    input,
    tags,
    gates,
    version,
    work,
    createdBy,
    dueAt: null,
    dedupeKey: null,
    idempotency: null,
    retryOf: run.id,
    reservation: null,
  }
}
