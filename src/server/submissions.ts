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
  const places = await placesFor(submissions, project, catalog)
  const now = storeNow()
  // Ids come last, so that order of arrival is order of ids even when a name had to be looked up.
  return submissions.map((submission, index) => {
    const { jobId, laneId, gates } = places.of(submission, index)
    const { input, runAt, dedupeKey, idempotencyKey, tags, priority = 0 } = submission
    return {
      id: mintId(),
      projectId: places.projectId,
      jobId,
      laneId,
      rank: priority === 0 ? 0 : -priority,
      dueAt: runAt !== undefined && runAt > now ? runAt : null,
      timeoutMs: submission.timeoutMs ?? null,
      policy: encodePolicy(submission),
      input: input === undefined ? null : JSON.stringify(input),
      tags: tags && Object.keys(tags).length > 0 ? JSON.stringify(tags) : null,
      gates,
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

interface Place {
  readonly jobId: number
  readonly laneId: number
  readonly gates: readonly number[]
}

const NO_GATES: readonly number[] = []

/** Most runs of a batch go to the same few places: each distinct one is looked up once. */
async function placesFor(submissions: readonly Submission[], project: string, catalog: Catalog) {
  const projectId = await catalog.project(project)
  const distinct = new Map<string, Submission>()
  for (const submission of submissions) {
    const key = placeKey(submission)
    if (!distinct.has(key)) distinct.set(key, submission)
  }
  const kinds = [...distinct.values()]
  const jobIds = await catalog.jobs(
    projectId,
    kinds.map(({ job }) => job),
  )
  const laneIds = await catalog.lanes(kinds.map((submission) => laneOf(submission, project)))
  const places = new Map<string, Place>()
  for (const [index, key] of [...distinct.keys()].entries()) {
    const gates = NO_GATES
    places.set(key, { jobId: jobIds[index] as number, laneId: laneIds[index] as number, gates })
  }
  const gated = new Map<number, Place>()
  for (const [index, submission] of submissions.entries()) {
    if (!submission.concurrency?.length) continue
    const gates = await catalog.gates(projectId, submission.concurrency)
    gated.set(index, { ...(places.get(placeKey(submission)) as Place), gates })
  }
  return {
    projectId,
    of: (submission: Submission, index: number) =>
      (gated.get(index) ?? places.get(placeKey(submission))) as Place,
  }
}

/** Names hold no spaces, so this is one text per combination. */
function placeKey({ job, queue, executor, weight, labels }: Submission): string {
  if (!queue && !executor && weight === undefined && !labels) return job
  return `${job} ${queue ?? ''} ${executor ?? ''} ${weight ?? ''} ${labels?.join(' ') ?? ''}`
}

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
