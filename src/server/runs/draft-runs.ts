import { createHash } from 'node:crypto'
import { withDefaults } from '../../core/job/job-definition.ts'
import { requirePublicId } from '../../core/ids.ts'
import { FLOW_EXECUTOR } from '../../core/work/workflow-work.ts'
import { LIMITS } from '../../core/limits.ts'
import type { Need } from '../../core/run/needs.ts'
import { encodePolicy } from '../../core/run/run-policy.ts'
import type { Submission } from '../../core/wire/protocol.ts'
import { localTime } from '../../core/schedule/local-time.ts'
import { encodeWork } from '../../core/work/work.ts'
import type { NewRun, SecretStore } from '../../store/port.ts'
import type { Catalog } from '../catalog/catalog-cache.ts'
import type { Definition, Definitions } from '../definitions/definitions.ts'
import { createPlaces, type Place } from './destinations.ts'
import { requireSecrets } from '../secrets/require-secrets.ts'
import type { QueueBook } from '../dispatch/queue-settings-cache.ts'

/** Turns what a client asked for into rows for the tick. Input is trusted: the API has checked it. */
export type Draft = (
  submissions: readonly Submission[],
  project: string,
  actor: number | null,
) => Promise<NewRun[]>

export interface Drafting {
  readonly catalog: Catalog
  readonly definitions: Pick<Definitions, 'known' | 'find'>
  readonly queues: QueueBook
  readonly store: Pick<SecretStore, 'findSecrets'>
  /** On whose clocks a run is that no schedule made. */
  readonly zone: string
  mintId(): number
  storeNow(): number
}

export function createDraft(context: Drafting): Draft {
  const { catalog, definitions, queues, store, zone, mintId, storeNow } = context
  const places = createPlaces(catalog)

  return async (submissions, project, actor) => {
    const place = places.of(project)
    const projectId = place.projectId ?? (await place.learnProject())
    const known = knownDefinitions(submissions, projectId, definitions)
    const found =
      known === undefined ? await findDefinitions(submissions, projectId, definitions) : known
    const asked = found
      ? submissions.map((submission, index) =>
          follow(submission, found[index] ?? null, { project, now: storeNow(), zone }),
        )
      : submissions
    if (asked.some(({ secrets }) => secrets?.length)) await requireSecrets(asked, projectId, store)
    const at = place.find(asked) ?? (await place.learn(asked))
    const gates = asked.some(({ concurrency }) => concurrency?.length)
      ? await gatesOf(asked, projectId, catalog)
      : undefined
    const now = storeNow()
    // Ids come last, so that order of arrival is order of ids even when a name had to be looked up.
    return asked.map((run, index) => {
      const own = submissions[index] as Submission
      const { jobId, laneId } = at[index] as Place
      const { input, runAt, dedupeKey, idempotencyKey, tags, priority = 0 } = run
      return {
        id: mintId(),
        projectId,
        jobId,
        laneId,
        rank: priority === 0 ? 0 : -priority,
        dueAt: runAt !== undefined && runAt > now ? runAt : null,
        timeoutMs: queues.timeoutOf(project, run),
        policy: encodePolicy(run),
        version: follows(own) ? (found?.[index]?.version ?? null) : null,
        createdBy: actor,
        work: ownWork(own, run, found?.[index]),
        input: input === undefined ? null : JSON.stringify(input),
        tags: tags && Object.keys(tags).length > 0 ? JSON.stringify(tags) : null,
        gates: gates?.[index] ?? NO_GATES,
        dedupeKey: dedupeKey ?? null,
        idempotency:
          idempotencyKey === undefined
            ? null
            : { key: idempotencyKey, digest: digestOf(own), until: now + LIMITS.idempotencyMs },
        retryOf: null,
        handOff: null,
        after: run.after && needsOf(run.after),
      }
    })
  }
}

type Found = readonly (Definition | null)[]
/** Most submissions are for functions, whose jobs nobody had to define. */
const NONE: null = null

/** The definitions of all of them; `null` if none has one, `undefined` if that is not known. */
function knownDefinitions(
  submissions: readonly Submission[],
  projectId: number,
  definitions: Drafting['definitions'],
): Found | null | undefined {
  let found: (Definition | null)[] | undefined
  let job: string | undefined
  let definition: Definition | null | undefined
  for (const [index, submission] of submissions.entries()) {
    if (submission.job !== job) {
      ;({ job } = submission)
      definition = definitions.known(projectId, job)
    }
    if (definition === undefined) return undefined
    if (definition === null) continue
    found ??= new Array<Definition | null>(submissions.length).fill(null)
    found[index] = definition
  }
  return found ?? NONE
}

async function findDefinitions(
  submissions: readonly Submission[],
  projectId: number,
  definitions: Drafting['definitions'],
): Promise<Found | null> {
  const jobs = [...new Set(submissions.map(({ job }) => job))]
  const found = await Promise.all(jobs.map((job) => definitions.find(projectId, job)))
  if (found.every((definition) => definition === null)) return NONE
  const byJob = new Map(jobs.map((job, index) => [job, found[index] ?? null]))
  return submissions.map(({ job }) => byJob.get(job) ?? null)
}

function follow(
  submission: Submission,
  definition: Definition | null,
  { project, now, zone }: { project: string; now: number; zone: string },
): Submission {
  if (!definition) return submission
  const run = withDefaults(submission, definition.defaults)
  // A run that brings its own work has an input for that, not for the job's.
  if (!definition.preparation || !follows(submission)) return run
  const scheduledAt =
    submission.scheduledAt ?? localTime(Math.max(submission.runAt ?? now, now), zone)
  return definition.preparation.prepare(run, { job: submission.job, project, scheduledAt })
}

/** What the run executes, where that is not what its version says anyway. */
function ownWork(own: Submission, run: Submission, definition?: Definition | null): string | null {
  if (own.work) return encodeWork(own.work)
  const { scheduledAt } = own
  if (scheduledAt !== undefined && follows(own) && run.work?.executor === FLOW_EXECUTOR) {
    return encodeWork({ ...run.work, scheduled_at: scheduledAt })
  }
  const isMade = follows(own) && definition?.preparation?.makesWork === true
  return isMade && run.work ? encodeWork(run.work) : null
}

/** A run that says itself what to execute follows its job in everything else, but not in that. */
function follows({ work, task }: Submission): boolean {
  return work === undefined && task === undefined
}

function needsOf(after: NonNullable<Submission['after']>): Need[] {
  return after.map(({ run, on = 'ok' }, index) => ({
    runId: requirePublicId('run', run, `after.${index}.run`),
    wants: on,
  }))
}

const NO_GATES: readonly number[] = []
const NONE_ASKED: NonNullable<Submission['concurrency']> = []

async function gatesOf(
  submissions: readonly Submission[],
  projectId: number,
  catalog: Catalog,
): Promise<(readonly number[])[]> {
  const all = new Map(
    submissions.flatMap(({ concurrency = [] }) => concurrency.map((gate) => [gate.key, gate])),
  )
  // Once for all of them: a batch may bring a thousand keys that nobody has heard of.
  if (all.size > 1) await catalog.gates(projectId, [...all.values()])
  const gates: (readonly number[])[] = []
  for (const { concurrency = NONE_ASKED } of submissions) {
    if (concurrency.length === 0) gates.push(NO_GATES)
    else {
      const known = catalog.knownGates(projectId, concurrency)
      gates.push(known ?? (await catalog.gates(projectId, concurrency)))
    }
  }
  return gates
}

/** Tells a repeat of a submission from a different one under the same key. */
function digestOf({ idempotencyKey: _, ...rest }: Submission): string {
  return createHash('sha256').update(JSON.stringify(rest)).digest('base64url')
}
