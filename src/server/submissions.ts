import { createHash } from 'node:crypto'
import { LIMITS } from '../core/limits.ts'
import { encodePolicy } from '../core/policy.ts'
import { encodeWork } from '../core/work.ts'
import type { Submission } from '../core/protocol.ts'
import type { NewRun } from '../store/port.ts'
import type { Catalog } from './catalog.ts'
import { createPlaces, type Place } from './places.ts'

/** Turns what a client asked for into rows for the tick. Input is trusted: the API has checked it. */
export type Draft = (submissions: readonly Submission[], project: string) => Promise<NewRun[]>

export interface Drafting {
  readonly catalog: Catalog
  mintId(): number
  storeNow(): number
}

export function createDraft(context: Drafting): Draft {
  const { catalog, mintId, storeNow } = context
  const places = createPlaces(catalog)

  return async (submissions, project) => {
    const known = places.of(project)
    const found = known.find(submissions) ?? (await known.learn(submissions))
    const gates = submissions.some(({ concurrency }) => concurrency?.length)
      ? await gatesOf(submissions, project, catalog)
      : undefined
    const now = storeNow()
    // Ids come last, so that order of arrival is order of ids even when a name had to be looked up.
    return submissions.map((submission, index) => {
      const { projectId, jobId, laneId } = found[index] as Place
      const { input, runAt, dedupeKey, idempotencyKey, tags, priority = 0, work } = submission
      return {
        id: mintId(),
        projectId,
        jobId,
        laneId,
        rank: priority === 0 ? 0 : -priority,
        dueAt: runAt !== undefined && runAt > now ? runAt : null,
        timeoutMs: submission.timeoutMs ?? null,
        policy: encodePolicy(submission),
        version: null,
        createdBy: null,
        work: work ? encodeWork(work) : null,
        input: input === undefined ? null : JSON.stringify(input),
        tags: tags && Object.keys(tags).length > 0 ? JSON.stringify(tags) : null,
        gates: gates?.[index] ?? NO_GATES,
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
}

const NO_GATES: readonly number[] = []

async function gatesOf(
  submissions: readonly Submission[],
  project: string,
  catalog: Catalog,
): Promise<(readonly number[])[]> {
  const projectId = await catalog.project(project)
  const gates: (readonly number[])[] = []
  for (const { concurrency = [] } of submissions) {
    gates.push(concurrency.length > 0 ? await catalog.gates(projectId, concurrency) : NO_GATES)
  }
  return gates
}

/** Tells a repeat of a submission from a different one under the same key. */
function digestOf({ idempotencyKey: _, ...rest }: Submission): string {
  return createHash('sha256').update(JSON.stringify(rest)).digest('base64url')
}
