import { createHash } from 'node:crypto'
import { withDefaults } from '../../core/job/job-definition.ts'
import { requirePublicId } from '../../core/ids.ts'
import type { Clock } from '../../core/clock.ts'
import { areLarge, writingJson } from '../../core/text/json-text.ts'
import type { Pausing } from '../../core/pausing.ts'
import { WORKFLOW_EXECUTOR } from '../../core/work/workflow-work.ts'
import { LIMITS } from '../../core/limits.ts'
import type { Need } from '../../core/run/needs.ts'
import { encodePolicy } from '../../core/run/run-policy.ts'
import type { Submission } from '../../core/wire/protocol.ts'
import { localTime } from '../../core/schedule/local-time.ts'
import { encodeWork } from '../../core/work/work.ts'
import type { NewRun, SecretStore } from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import type { Definition, Definitions } from '../definitions/definitions.ts'
import { runInSlices } from '../loops/run-in-slices.ts'
import type { KnownJobs } from '../definitions/known-jobs.ts'
import { createDestinations, type RunDestination } from './destinations.ts'
import { PunctualError } from '../../core/errors.ts'
import type { QueueSettingsCache } from '../dispatch/queue-settings-cache.ts'

/** Turns submissions into rows for the tick. The API has already checked them. */
export type DraftRuns = (
  submissions: readonly Submission[],
  project: string,
  actor: number | null,
) => Promise<NewRun[]>

export interface Drafting {
  readonly catalog: CatalogCache
  readonly definitions: Pick<Definitions, 'known' | 'find'>
  readonly queues: QueueSettingsCache
  readonly store: Pick<SecretStore, 'findSecrets'>
  readonly clock: Pick<Clock, 'mono'>
  readonly knownJobs: KnownJobs
  /** Zone of the scheduled time of runs that no schedule made. */
  readonly zone: string
  mintId(): number
  storeNow(): number
}

export function createDraft(context: Drafting): DraftRuns {
  const { catalog, definitions, queues, store, clock, zone, mintId, storeNow, knownJobs } = context
  const places = createDestinations(catalog)

  return async (submissions, project, actor) => {
    const place = places.of(project)
    const projectId = place.projectId ?? (await place.learnProject())
    const known = knownDefinitions(submissions, projectId, definitions)
    const found =
      known === undefined ? await findDefinitions(submissions, projectId, definitions) : known
    const doubtful = submissions.filter(
      (submission, index) =>
        submission.unknownJob === 'refuse' && follows(submission) && !found?.[index],
    )
    if (doubtful.length > 0) await knownJobs.require(doubtful, { project, projectId })
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
    const large =
      asked.some(hasValues) && areLarge(valuesOf(asked))
        ? await runInSlices(writingValues(asked, submissions), clock)
        : undefined
    const now = storeNow()
    // Ids are minted last, so that ids follow the order of arrival even if a name had to be looked
    // up.
    return asked.map((run, index) => {
      const own = submissions[index] as Submission
      const { jobId, laneId } = at[index] as RunDestination
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
        input: large?.[index]?.input ?? (input === undefined ? null : JSON.stringify(input)),
        tags: large ? (large[index] as Written).tags : tagsText(tags),
        gates: gates?.[index] ?? NO_GATES,
        dedupeKey: dedupeKey ?? null,
        idempotency:
          idempotencyKey === undefined
            ? null
            : {
                key: idempotencyKey,
                digest: large?.[index]?.digest ?? digestOf(own),
                until: now + LIMITS.idempotencyMs,
              },
        retryOf: null,
        reservation: null,
        after: run.after && needsOf(run.after),
      }
    })
  }
}

/** Most runs carry nothing: then there is nothing to weigh. */
function hasValues({ input, tags }: Submission): boolean {
  return input !== undefined || tags !== undefined
}

function* valuesOf(submissions: readonly Submission[]): Generator<unknown> {
  for (const { input, tags } of submissions) {
    yield input
    yield tags
  }
}

interface Written {
  readonly input: string | undefined
  readonly tags: string | null
  readonly digest: string | undefined
}

/**
 * Writes inputs and tags as text, and their digests, in slices: some megabytes at once would block
 * the event loop.
 */
function* writingValues(
  asked: readonly Submission[],
  submissions: readonly Submission[],
): Pausing<Written[]> {
  const texts: Written[] = []
  for (const [index, { input, tags }] of asked.entries()) {
    const own = submissions[index] as Submission
    const text = input === undefined ? undefined : yield* writingJson(input)
    const isKeyed = own.idempotencyKey !== undefined
    // Defaults of the job may have been added to the input.
    const keepsOwnText = isKeyed && own.input !== undefined && own.input !== input
    const ownText = keepsOwnText ? yield* writingJson(own.input) : text
    const digest = isKeyed ? digestOf(own, ownText) : undefined
    texts.push({ input: text, tags: tagsText(tags), digest })
    yield
  }
  return texts
}

function tagsText(tags: Submission['tags']): string | null {
  return tags && Object.keys(tags).length > 0 ? JSON.stringify(tags) : null
}

type Found = readonly (Definition | null)[]
/** Most submissions are for handlers, whose jobs have no definition. */
const NONE: null = null

/** The definitions of all jobs; `null` if none has one, `undefined` if that is not known. */
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
  // The input of a run with its own work belongs to that work, not to the job.
  if (!definition.preparation || !follows(submission)) return run
  const scheduledAt =
    submission.scheduledAt ?? localTime(Math.max(submission.runAt ?? now, now), zone)
  return definition.preparation.prepare(run, { job: submission.job, project, scheduledAt })
}

/** The work of the run, if it differs from that of the job version. */
function ownWork(own: Submission, run: Submission, definition?: Definition | null): string | null {
  if (own.work) return encodeWork(own.work)
  const { scheduledAt } = own
  if (scheduledAt !== undefined && follows(own) && run.work?.executor === WORKFLOW_EXECUTOR) {
    return encodeWork({ ...run.work, scheduled_at: scheduledAt })
  }
  const isMade = follows(own) && definition?.preparation?.makesWork === true
  return isMade && run.work ? encodeWork(run.work) : null
}

/**
 * Whether a run executes the work of its job. One with its own work follows the job in everything
 * else.
 */
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
  catalog: CatalogCache,
): Promise<(readonly number[])[]> {
  const all = new Map(
    submissions.flatMap(({ concurrency = [] }) => concurrency.map((gate) => [gate.key, gate])),
  )
  // One request for all: a batch may bring a thousand unknown keys.
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

/** Digest that distinguishes a repeated submission from a different one with the same key. */
function digestOf(
  { idempotencyKey: _, unknownJob: _checked, ...rest }: Submission,
  inputText?: string,
): string {
  const text = inputText === undefined ? JSON.stringify(rest) : textWith(rest, inputText)
  return createHash('sha256').update(text).digest('base64url')
}

/** The result of `JSON.stringify` for an object whose input is already serialized. */
export function textWith(object: { readonly input?: unknown }, inputText: string): string {
  const members: string[] = []
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined) continue
    const text = name === 'input' ? inputText : JSON.stringify(value)
    members.push(`${JSON.stringify(name)}:${text}`)
  }
  return `{${members.join(',')}}`
}

/** Refuses submissions with unknown secrets: their callers still wait for the answer. */
async function requireSecrets(
  submissions: readonly Submission[],
  projectId: number,
  store: Pick<SecretStore, 'findSecrets'>,
): Promise<void> {
  const names = [
    ...new Set(submissions.flatMap(({ secrets = [] }) => secrets.map(({ name }) => name))),
  ]
  const found = await store.findSecrets(names.map((name) => ({ projectId, name })))
  const missing = names.filter((_, index) => found[index] === null)
  if (missing.length === 0) return
  const message = `there is no secret ${missing.join(', ')} in this project`
  throw new PunctualError('secret_not_found', message, { field: 'secrets' })
}
