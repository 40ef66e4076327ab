import { PunctualError } from '../errors.ts'
import type { ExpectationsDefinition } from '../expectation/expectations.ts'
import { type Pausing, withoutPause } from '../pausing.ts'
import type { Submission } from '../wire/protocol.ts'
import type { ScheduleDefinition } from '../schedule/definition/schedule-definition.ts'
import type { WireSubmission } from '../wire/runs.ts'
import type { WorkflowInput } from '../workflow/definition.ts'
import { readJob } from './read-job.ts'

/**
 * What a job is, as people write it: everything a submission can say except what belongs to one run
 * alone, and a few words for people.
 */
export interface JobDefinition
  extends
    Omit<
      WireSubmission,
      'job' | 'input' | 'run_at' | 'dedupe_key' | 'idempotency_key' | 'after' | 'concurrency'
    >,
    ExpectationsDefinition,
    WorkflowInput {
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly owner?: string | undefined
  /** The folder of files it comes from, by the name that `apply` gave it. */
  readonly source?: string | undefined
  /** When it runs by itself: one rule, or several. */
  readonly schedule?: DeclaredSchedule | readonly DeclaredSchedule[] | undefined
}

/** A schedule within the definition of its job. */
export interface DeclaredSchedule extends ScheduleDefinition {
  /** Its place in the list, counted from 1, if it is not said. */
  readonly name?: string | undefined
}

/** The schedules of a definition, each with the name it has and the place where it stands. */
export function schedulesIn({ schedule = [] }: JobDefinition) {
  const isList = Array.isArray(schedule)
  const declared = [schedule].flat() as readonly DeclaredSchedule[]
  const names = new Set<string>()
  return declared.map(({ name = '', ...definition }, index) => {
    const at = isList ? `schedule.${index}.` : 'schedule.'
    const called = name || String(index + 1)
    if (names.has(called)) {
      const field = `${at}name`
      const message = `${field}: another schedule of the job is called ${called}`
      throw new PunctualError('invalid_schedule', message, { field, hint: NAME_THEM })
    }
    names.add(called)
    return { name: called, at, definition }
  })
}

const NAME_THEM = 'Give each a name of its own; without one, it is called by its place in the list.'

/** What runs of a job get unless they say otherwise. Throws what is wrong with the definition. */
export function defaultsOf(definition: JobDefinition, job: string): Submission {
  return readJob(definition, job).defaults
}

/** The stored form: the same text for the same definition, whatever order it was written in. */
export function encodeDefinition(definition: JobDefinition): string {
  return withoutPause(encodingDefinition(definition))
}

/** The same with pauses, for a definition of very many steps. */
export function* encodingDefinition(definition: JobDefinition): Pausing<string> {
  const { steps, input, ...rest } = definition
  const others = { ...(sorted(rest) as object), ...(input && { input: inPlace(input) }) }
  if (steps === undefined) return JSON.stringify(others)
  const isList = Array.isArray(steps)
  const said = steps as Readonly<Record<string, unknown>>
  const parts: string[] = []
  let part: string[] = []
  for (const name of Object.keys(said)) {
    const text = JSON.stringify(sorted(said[name]))
    part.push(isList ? text : `${JSON.stringify(name)}:${text}`)
    // Texts of steps are gone again before they have become old: it is their number that costs.
    if (part.length === STEPS_IN_PART) {
      parts.push(part.join(','))
      part = []
    }
    yield
  }
  if (part.length > 0) parts.push(part.join(','))
  const [open, close] = isList ? '[]' : '{}'
  const before = JSON.stringify(others).slice(0, -1)
  return `${before}${before === '{' ? '' : ','}"steps":${open}${parts.join(',')}${close}}`
}

const STEPS_IN_PART = 500

/** Parameters, like steps, are shown in the order they were written in. */
function inPlace(parameters: object): unknown {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, inner]) => [name, sorted(inner)]),
  )
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.some(isNested) ? value.map(sorted) : value
  const fields = value as Readonly<Record<string, unknown>>
  const said = Object.keys(fields).filter((name) => fields[name] !== undefined)
  return Object.fromEntries(said.sort().map((name) => [name, sorted(fields[name])]))
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

/** A run of a job: what the submission says wins over the definition, field by field. */
export function withDefaults(submission: Submission, defaults: Submission): Submission {
  const executesItsOwn = submission.work !== undefined || submission.task !== undefined
  return {
    job: submission.job,
    input: submission.input,
    queue: submission.queue ?? defaults.queue,
    priority: submission.priority ?? defaults.priority,
    runAt: submission.runAt,
    runsOn: submission.runsOn ?? defaults.runsOn,
    weight: submission.weight ?? defaults.weight,
    work: submission.work ?? (submission.task === undefined ? defaults.work : undefined),
    task: submission.task ?? (submission.work === undefined ? defaults.task : undefined),
    timeoutMs: submission.timeoutMs ?? defaults.timeoutMs,
    retry: submission.retry ?? defaults.retry,
    onLost: submission.onLost ?? defaults.onLost,
    // They belong to what is executed: a run that brings its own work brings its own secrets.
    secrets: submission.secrets ?? (executesItsOwn ? undefined : defaults.secrets),
    concurrency: submission.concurrency ?? defaults.concurrency,
    dedupeKey: submission.dedupeKey,
    idempotencyKey: submission.idempotencyKey,
    after: submission.after,
    tags: defaults.tags ? { ...defaults.tags, ...submission.tags } : submission.tags,
  }
}
