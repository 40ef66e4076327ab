import { handlersIn } from '../../core/worker/handler-names.ts'
import { hookSecretName } from '../../core/webhook/hook.ts'
import type { JobDefinition } from '../../core/job/job-definition.ts'
import {
  findInputMismatches,
  type JobFileText,
  locateProblems,
  type ProblemOfFile,
  subJobsOf,
} from '../../core/job-file/sub-jobs.ts'
import { labelTexts } from '../../core/worker/labels.ts'
import { nearestName } from '../../core/text/nearest.ts'
import type { WirePage, WireSecret, WireWorker } from '../../core/wire/views.ts'
import type { WireJob } from '../../core/job/job-views.ts'
import type { StepInput } from '../../core/workflow/definition.ts'
import { everyPage } from '../find/every-page.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { jobPath } from '../find/find-job.ts'
import type { ServerCalls } from '../server/server-calls.ts'

export interface References {
  /** Runs would wait for ever, or be refused. */
  readonly problems: readonly ProblemOfFile[]
  /** Can be fixed before the job runs: a missing secret, a missing worker. */
  readonly warnings: readonly ProblemOfFile[]
}

const MOST_SECRETS = 10_000

/** Finds references to things that are neither in another file nor on the server. */
export async function checkReferences(
  calls: ServerCalls,
  files: readonly JobFileText[],
  /** Jobs that are on the server now and will not be. */
  deleted: ReadonlySet<string>,
): Promise<References> {
  const workers = await workersOf(calls)
  const handlers = new Set(workers.flatMap(({ executors }) => handlersIn(executors)))
  const known = await definitionsOf(calls, files, deleted)
  const isKnown = (job: string) => known.has(job) || handlers.has(job)
  const unknown = files.some((file) => namesOf(file).some((name) => !isKnown(name)))
  const names = unknown ? [...known.keys(), ...handlers, ...(await jobsOf(calls, deleted))] : []
  const secrets = await secretsOf(calls, files)
  const inFiles = new Set(files.map(({ name }) => name))
  const elsewhere = new Map([...known].filter(([name]) => !inFiles.has(name)))
  return {
    problems: [
      ...files.flatMap((file) =>
        locateProblems(file, unknownSubJobs(file, isKnown, names, deleted)),
      ),
      ...findInputMismatches(files, elsewhere),
    ],
    warnings: files.flatMap((file) =>
      locateProblems(file, [
        ...unknownSources(file, isKnown, names),
        ...missingSecrets(file, secrets),
        ...unservedIn(file, workers),
      ]),
    ),
  }
}

type Found = Parameters<typeof locateProblems>[1][number]

function unknownSubJobs(
  { definition }: JobFileText,
  isKnown: (job: string) => boolean,
  names: readonly string[],
  deleted: ReadonlySet<string>,
): Found[] {
  return subJobsOf(definition)
    .filter(({ job }) => !isKnown(job))
    .map(({ job, at }) => {
      const field = `${at}.job`
      if (deleted.has(job)) {
        const message = `${field}: --prune deletes the job ${job}, which this step runs`
        const hint = 'Keep its file, or remove the step.'
        return { field, code: 'unknown_job', message, hint }
      }
      const what = `there is no job ${job}, here or on the server, and no worker has a handler of that name`
      const hint = `If a worker with the handler comes later, write \`task: ${job}\` instead.`
      const message = `${field}: ${what}${adviceFor(job, names)}`
      return { field, code: 'unknown_job', message, hint }
    })
}

/** A trigger's job may be defined later, but a mistyped one would never fire. */
function unknownSources(
  { definition }: JobFileText,
  isKnown: (job: string) => boolean,
  names: readonly string[],
): Found[] {
  return sourcesOf(definition)
    .filter(({ job }) => !isKnown(job))
    .map(({ job, field }) => {
      const message = `${field}: there is no job ${job}, here or on the server${adviceFor(job, names)}`
      return { field, code: 'unknown_job', message }
    })
}

function sourcesOf({ triggers = [] }: JobDefinition) {
  return triggers.flatMap(({ after }, nth) =>
    after === undefined
      ? []
      : [{ job: after.split('/')[0] as string, field: `triggers.${nth}.after` }],
  )
}

function adviceFor(job: string, names: readonly string[]): string {
  const meant = nearestName(job, names)
  return meant === undefined ? '' : `; did you mean ${meant}?`
}

function missingSecrets(
  { definition }: JobFileText,
  known: ReadonlySet<string> | undefined,
): Found[] {
  if (!known) return []
  return secretsIn(definition).flatMap(({ name, field }): Found[] => {
    const message = `${field}: there is no secret ${name} in this project`
    const hint = `Set it before it is needed: punctual secret set ${name}`
    return known.has(name) ? [] : [{ field, code: 'secret_not_found', message, hint }]
  })
}

interface NamedSecret {
  readonly name: string
  readonly field: string
}

/** The secrets of runs, of expressions, and of webhook signatures. */
function secretsIn(definition: JobDefinition): NamedSecret[] {
  const ofParts = partsOf(definition).flatMap(({ part, at }) => {
    const { secrets = [], env, http } = part
    const listed = secrets.map((secret, nth) => ({
      name: typeof secret === 'string' ? secret : secret.name,
      field: `${at}secrets.${nth}`,
    }))
    return [...listed, ...inExpressions(env, `${at}env`), ...inExpressions(http, `${at}http`)]
  })
  const ofHooks = (definition.triggers ?? []).flatMap(({ webhook }, nth) =>
    webhook === undefined
      ? []
      : [{ name: hookSecretName(webhook), field: `triggers.${nth}.webhook` }],
  )
  return [...ofParts, ...ofHooks]
}

const IN_EXPRESSION = /\$\{\{[^}]*?\bsecrets\.([A-Za-z0-9][A-Za-z0-9._-]*)/g

function inExpressions(value: unknown, field: string): NamedSecret[] {
  if (typeof value === 'string') {
    return [...value.matchAll(IN_EXPRESSION)].map(([, name = '']) => ({ name, field }))
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, part]) => inExpressions(part, `${field}.${key}`))
}

/** Only labels and queues that a file names: any worker serves the rest. */
function unservedIn({ definition }: JobFileText, workers: readonly WireWorker[]): Found[] {
  return partsOf(definition).flatMap(({ part, at }): Found[] => {
    const queue = part.queue ?? definition.queue
    const asked = labelTexts(part.runs_on?.labels)
    const serving = workers.filter(({ queues }) => queues.includes(queue ?? 'default'))
    if (part.queue !== undefined && serving.length === 0) {
      const message = `${at}queue: no connected worker serves the queue ${queue}`
      const hint = `Start one: punctual worker --queue ${queue}`
      return [{ field: `${at}queue`, code: 'queue_not_served', message, hint }]
    }
    const isCarried = (worker: WireWorker) =>
      asked.every((label) => labelTexts(worker.labels).includes(label))
    if (asked.length === 0 || serving.some(isCarried)) return []
    const which = queue === undefined ? '' : ` that serves the queue ${queue}`
    const message = `${at}runs_on.labels: no connected worker${which} carries ${asked.join(', ')}`
    const serve = queue === undefined ? '' : ` --queue ${queue}`
    const hint = `Start one: punctual worker${serve}${asked.map((label) => ` --label ${label}`).join('')}`
    return [{ field: `${at}runs_on.labels`, code: 'labels_not_served', message, hint }]
  })
}

type Part = Pick<StepInput, 'queue' | 'runs_on' | 'secrets' | 'env' | 'http'>

/** The definition itself and each of its steps, with their paths. */
function partsOf(definition: JobDefinition): { part: Part; at: string }[] {
  const steps = (definition.steps ?? {}) as Readonly<Record<string, StepInput>>
  const ofSteps = Object.entries(steps).map(([place, part]) => ({ part, at: `steps.${place}.` }))
  return [{ part: definition, at: '' }, ...ofSteps]
}

function namesOf({ definition }: JobFileText): string[] {
  return [...subJobsOf(definition), ...sourcesOf(definition)].map(({ job }) => job)
}

/** The definitions in the files, and the referenced ones on the server. */
async function definitionsOf(
  calls: ServerCalls,
  files: readonly JobFileText[],
  deleted: ReadonlySet<string>,
): Promise<Map<string, JobDefinition>> {
  const known = new Map(files.map(({ name, definition }) => [name, definition]))
  const wanted = new Set(
    files.flatMap(namesOf).filter((name) => !known.has(name) && !deleted.has(name)),
  )
  for (const name of wanted) {
    const job = await unless([EXIT.notFound, EXIT.usage], () =>
      calls.call<WireJob>('GET', jobPath(name)),
    )
    if (job) known.set(name, job.definition)
  }
  return known
}

async function jobsOf(calls: ServerCalls, deleted: ReadonlySet<string>): Promise<string[]> {
  const { data } = await calls.call<WirePage<WireJob>>('GET', '/v1/jobs?limit=500')
  return data.map(({ name }) => name).filter((name) => !deleted.has(name))
}

async function workersOf(calls: ServerCalls): Promise<readonly WireWorker[]> {
  return (await calls.call<{ data: WireWorker[] }>('GET', '/v1/workers')).data
}

/** Undefined if no file names a secret, or the caller may not list them. */
async function secretsOf(
  calls: ServerCalls,
  files: readonly JobFileText[],
): Promise<Set<string> | undefined> {
  const isAsked = files.some(({ definition }) => secretsIn(definition).length > 0)
  if (!isAsked) return undefined
  const found = await unless([EXIT.forbidden], () =>
    everyPage<WireSecret>(calls, '/v1/secrets?', MOST_SECRETS),
  )
  return found && new Set(found.map(({ name }) => name))
}

async function unless<T>(codes: readonly number[], ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof Failure && codes.includes(error.exitCode)) return undefined
    throw error
  }
}
