import { PunctualError } from '../../core/errors.ts'
import { publicId } from '../../core/ids.ts'
import { LIMITS } from '../../core/limits.ts'
import type { WireFollowUp, WireJob } from '../../core/wire/views.ts'
import { formatTime } from '../../core/wire/runs.ts'
import { showCircle } from '../../core/workflow/step-cycle.ts'
import { causeOf, type Followed, NO_END } from '../../core/workflow/triggers.ts'
import type { FollowRefusal, FollowStore, FollowUpRecord, JobRecord } from '../../store/port.ts'
import type { Catalog } from '../catalog/catalog-cache.ts'

/** So many of the latest are shown with a job. */
const SHOWN = 10

/** Whom a job follows, and who follows it, beside its definition. */
export interface FollowViews {
  of(projectId: number, job: JobRecord): Promise<Pick<WireJob, 'followers' | 'follow_ups'>>
}

export function createFollowViews(deps: {
  readonly store: Pick<FollowStore, 'followersOf' | 'followUpsOf'>
  readonly catalog: Pick<Catalog, 'jobName' | 'learnNames'>
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
    ...{ after: publicId('run', sourceRunId), job, state, at: formatTime(at, 'at') },
    run: runId === null ? null : publicId('run', runId),
    reason,
  }
}

/** What the store has against it, said of the trigger that is to blame. */
export function cannotFollow(refusal: FollowRefusal, follows: readonly Followed[]): PunctualError {
  if (refusal.kind === 'crowded') {
    const { source } = refusal
    const field = fieldOf(follows, ({ job }) => job === source)
    const message = `${field}: ${LIMITS.followers} jobs run after ${source} already`
    const hint = 'Let one job run after it, as a workflow of all that is to be done then.'
    return new PunctualError('invalid_trigger', message, { field, hint })
  }
  const { path } = refusal
  const field = fieldOf(follows, ({ job }) => causeOf(job) === path.at(-2))
  const way = showCircle([...path.keys()], (nth) => path[nth] ?? '')
  const message = `${field}: these jobs would start each other for ever: ${way}`
  return new PunctualError('invalid_trigger', message, { field, hint: NO_END })
}

function fieldOf(follows: readonly Followed[], isIt: (one: Followed) => boolean): string {
  return `${follows.find(isIt)?.at ?? 'triggers'}.after`
}
