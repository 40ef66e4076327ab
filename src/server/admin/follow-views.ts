import { PunctualError } from '../../core/errors.ts'
import { publicId } from '../../core/ids.ts'
import { LIMITS } from '../../core/limits.ts'
import type { WireFollowUp, WireJob } from '../../core/job/job-views.ts'
import { formatTime } from '../../core/wire/runs.ts'
import { describeCycle } from '../../core/workflow/step-cycle.ts'
import {
  sourceJobOf,
  type TriggerSource,
  TRIGGER_CYCLE_HINT,
} from '../../core/workflow/triggers/triggers.ts'
import type { FollowRefusal, FollowStore, FollowUpRecord, JobRecord } from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'

/** Number of latest follow-ups shown with a job. */
const SHOWN = 10

/** The jobs that a job follows and those that follow it, shown with its definition. */
export interface FollowViews {
  of(projectId: number, job: JobRecord): Promise<Pick<WireJob, 'followers' | 'follow_ups'>>
}

export function createFollowViews(deps: {
  readonly store: Pick<FollowStore, 'followersOf' | 'followUpsOf'>
  readonly catalog: Pick<CatalogCache, 'jobName' | 'learnNames'>
}): FollowViews {
  const { store, catalog } = deps
  return {
    async of(projectId, { id, name }) {
      const latest = await store.followUpsOf({ jobId: id, limit: SHOWN })
      await catalog.learnNames(
        latest.map(({ sourceJobId }) => sourceJobId),
        [],
      )
      return {
        followers: await store.followersOf({ projectId, name }),
        follow_ups: latest.map((one) => showFollowUp(one, catalog.jobName(one.sourceJobId))),
      }
    },
  }
}

function showFollowUp(one: FollowUpRecord, job: string): WireFollowUp {
  const { sourceRunId, state, at, runId, reason } = one
  return {
    after: publicId('run', sourceRunId),
    job,
    state,
    at: formatTime(at, 'at'),
    run: runId === null ? null : publicId('run', runId),
    reason,
  }
}

/** The store's refusal as an error about the trigger that caused it. */
export function cannotFollow(
  refusal: FollowRefusal,
  follows: readonly TriggerSource[],
): PunctualError {
  if (refusal.kind === 'too_many') {
    const { source } = refusal
    const field = fieldOf(follows, ({ job }) => job === source)
    const message = `${field}: ${LIMITS.followers} jobs run after ${source} already`
    const hint = 'Let one job run after it, as a workflow of all that is to be done then.'
    return new PunctualError('invalid_trigger', message, { field, hint })
  }
  const { path } = refusal
  const field = fieldOf(follows, ({ job }) => sourceJobOf(job) === path.at(-2))
  const way = describeCycle([...path.keys()], (nth) => path[nth] ?? '')
  const message = `${field}: these jobs would start each other forever: ${way}`
  return new PunctualError('invalid_trigger', message, { field, hint: TRIGGER_CYCLE_HINT })
}

function fieldOf(follows: readonly TriggerSource[], isIt: (one: TriggerSource) => boolean): string {
  return `${follows.find(isIt)?.at ?? 'triggers'}.after`
}
