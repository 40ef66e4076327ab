import { PunctualError } from '../errors.ts'
import type { ExpectationsDefinition } from '../expectation/expectations.ts'
import { type Pausing, runWithoutPauses } from '../pausing.ts'
import type { Submission } from '../wire/protocol.ts'
import type { ScheduleDefinition } from '../schedule/definition/schedule-definition.ts'
import type { WireSubmission } from '../wire/runs.ts'
import type { WorkflowInput } from '../workflow/definition.ts'
import { readJob } from './read-job.ts'

/**
 * The definition of a job as users write it: all fields of a submission that do not belong to a single run, and
 * descriptions.
 */
export interface JobDefinition
  extends
    Omit<
      WireSubmission,
      | 'job'
      | 'input'
      | 'run_at'
      | 'dedupe_key'
      | 'idempotency_key'
      | 'after'
      | 'concurrency'
      | 'unknown_job'
    >,
    ExpectationsDefinition,
    WorkflowInput {
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly owner?: string | undefined
  /** The name given to `apply` for the folder that contains the job file. */
  readonly source?: string | undefined
  /** One or more schedules of the job. */
  readonly schedule?: DeclaredSchedule | readonly DeclaredSchedule[] | undefined
}

/** A schedule within the definition of its job. */
export interface DeclaredSchedule extends ScheduleDefinition {
  /** Defaults to its position in the list, counted from 1. */
  readonly name?: string | undefined
}

/** The schedules of a definition, each with its name and its field. */
export function schedulesIn({ schedule = [] }: JobDefinition) {
  const isList = Array.isArray(schedule)
  const declared = [schedule].flat() as readonly DeclaredSchedule[]
  const names = new Set<string>()
  return declared.map(({ name = '', ...definition }, index) => {
    const at = isList ? `schedule.${index}.` : 'schedule.'
    const scheduleName = name || String(index + 1)
    if (names.has(scheduleName)) {
      const field = `${at}name`
      const message = `${field}: another schedule of the job is called ${scheduleName}`
      throw new PunctualError('invalid_schedule', message, { field, hint: NAME_HINT })
    }
    names.add(scheduleName)
    return { name: scheduleName, at, definition }
  })
}

const NAME_HINT = 'Give each its own name; the default is its position in the list.'

/** The defaults for runs of the job. Throws if the definition is invalid. */
export function defaultsOf(definition: JobDefinition, job: string): Submission {
  return readJob(definition, job).defaults
}

/** The stored form: equal definitions have the same text, in whatever order they were written. */
export function encodeDefinition(definition: JobDefinition): string {
  return runWithoutPauses(encodingDefinition(definition))
}

/** The same with pauses, for a definition with very many steps. */
export function* encodingDefinition(definition: JobDefinition): Pausing<string> {
  const { steps, input, ...rest } = definition
  const others = { ...(sorted(rest) as object), ...(input && { input: keepOrder(input) }) }
  if (steps === undefined) return JSON.stringify(others)
  const isList = Array.isArray(steps)
  const definedFields = steps as Readonly<Record<string, unknown>>
  const parts: string[] = []
  let part: string[] = []
  for (const name of Object.keys(definedFields)) {
    const text = JSON.stringify(sorted(definedFields[name]))
    part.push(isList ? text : `${JSON.stringify(name)}:${text}`)
    // Writing in parts lets the garbage collector free the step texts early; their number is what makes it expensive.
    if (part.length === STEPS_PER_PART) {
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

const STEPS_PER_PART = 500

/** Parameters and steps keep the order in which they were written. */
function keepOrder(parameters: object): unknown {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, inner]) => [name, sorted(inner)]),
  )
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.some(isNested) ? value.map(sorted) : value
  const fields = value as Readonly<Record<string, unknown>>
  const definedFields = Object.keys(fields).filter((name) => fields[name] !== undefined)
  return Object.fromEntries(definedFields.sort().map((name) => [name, sorted(fields[name])]))
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

/** A run of a job: each field of the submission replaces that of the definition. */
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
    // Secrets belong to the executed work: a run with its own work uses only its own secrets.
    secrets: submission.secrets ?? (executesItsOwn ? undefined : defaults.secrets),
    concurrency: submission.concurrency ?? defaults.concurrency,
    dedupeKey: submission.dedupeKey,
    idempotencyKey: submission.idempotencyKey,
    after: submission.after,
    tags: defaults.tags ? { ...defaults.tags, ...submission.tags } : submission.tags,
  }
}
