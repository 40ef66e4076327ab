import { publicId } from '../../core/ids.ts'
import type { LaneSpec } from '../../core/queue/lane.ts'
import type { Assignment } from '../../core/wire/protocol.ts'
import type { GivenSecret } from '../../core/secrets/secret.ts'
import type { Work } from '../../core/work/work.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import type { HeldLease } from '../sessions/session.ts'

/** The assignment of a granted attempt, as it is sent to its worker. */
export function assignmentOf(
  lease: HeldLease,
  {
    catalog,
    lane,
    work,
    input,
    secrets,
  }: {
    readonly catalog: CatalogCache
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

/** The handler a lane is for, unless it has the name of the job. */
function taskOf(executor: string, job: string): string | null {
  if (!executor.startsWith(HANDLER)) return null
  const task = executor.slice(HANDLER.length)
  return task === job ? null : task
}

const HANDLER = 'handler:'
