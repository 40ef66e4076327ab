import { createHash } from 'node:crypto'
import { LIMITS } from '../core/limits.ts'
import { encodePolicy } from '../core/policy.ts'
import type { LaneSpec } from '../core/lane.ts'
import type { Submission } from '../core/protocol.ts'
import type { NewRun } from '../store/port.ts'
import type { Catalog } from './catalog.ts'

/** Turns what a client asked for into rows for the tick. Input is trusted: the API has checked it. */
export async function draftRuns(
  submissions: readonly Submission[],
  project: string,
  context: { catalog: Catalog; mintId: () => number; storeNow: () => number },
): Promise<NewRun[]> {
  const { catalog, mintId, storeNow } = context
  const projectId = await catalog.project(project)
  const jobIds = await catalog.jobs(
    projectId,
    submissions.map(({ job }) => job),
  )
  const laneIds = await catalog.lanes(submissions.map((submission) => laneOf(submission, project)))
  const gates: (readonly number[])[] = []
  for (const { concurrency } of submissions) {
    gates.push(concurrency?.length ? await catalog.gates(projectId, concurrency) : NO_GATES)
  }
  const now = storeNow()
  // Ids come last, so that order of arrival is order of ids even when a name had to be looked up.
  return submissions.map((submission, index) => {
    const { input, runAt, dedupeKey, idempotencyKey, tags } = submission
    return {
      id: mintId(),
      projectId,
      jobId: jobIds[index] as number,
      laneId: laneIds[index] as number,
      rank: -(submission.priority ?? 0),
      dueAt: runAt !== undefined && runAt > now ? runAt : null,
      timeoutMs: submission.timeoutMs ?? null,
      policy: encodePolicy(submission),
      input: input === undefined ? null : JSON.stringify(input),
      tags: tags && Object.keys(tags).length > 0 ? JSON.stringify(tags) : null,
      gates: gates[index] as readonly number[],
      dedupeKey: dedupeKey ?? null,
      idempotency:
        idempotencyKey === undefined
          ? null
          : {
              key: idempotencyKey,
              digest: digestOf(submission),
              until: now + LIMITS.idempotencyMs,
            },
      retryOf: null,
      handOff: null,
    }
  })
}

const NO_GATES: readonly number[] = []

function laneOf(submission: Submission, project: string): LaneSpec {
  const {
    queue = 'default',
    labels = [],
    executor = `handler:${submission.job}`,
    weight = 1,
  } = submission
  return { project, queue, labels: [...new Set(labels)].sort(), executor, weight }
}

/** Tells a repeat of a submission from a different one under the same key. */
function digestOf({ idempotencyKey: _, ...rest }: Submission): string {
  return createHash('sha256').update(JSON.stringify(rest)).digest('base64url')
}
