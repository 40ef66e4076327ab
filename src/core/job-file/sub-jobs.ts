import type { JobDefinition } from '../job/job-definition.ts'
import { nearestName } from '../text/nearest.ts'
import type { StepInput } from '../workflow/definition.ts'
import { refuseValue } from '../workflow/parameters/parameter-value.ts'
import type { FileProblem } from './read-job-file.ts'
import { readYaml } from './yaml-source.ts'

export interface JobFileText {
  readonly path: string
  readonly text: string
  readonly name: string
  readonly definition: JobDefinition
}

export type ProblemOfFile = FileProblem & { readonly file: string }

/** A step that runs another job. */
export interface SubJob {
  readonly job: string
  /** The field of the step, such as `steps.load`. */
  readonly at: string
  readonly step: StepInput
}

export function subJobsOf({ steps = [] }: Pick<JobDefinition, 'steps'>): SubJob[] {
  return Object.entries(steps as Readonly<Record<string, StepInput>>).flatMap(([place, step]) =>
    step.job === undefined ? [] : [{ job: step.job, at: `steps.${place}`, step }],
  )
}

/** Adds positions to the problems of one file. The file is parsed again only if it has problems. */
export function locateProblems(
  { path, text }: Pick<JobFileText, 'path' | 'text'>,
  found: readonly { field: string; code: string; message: string; hint?: string | undefined }[],
): ProblemOfFile[] {
  if (found.length === 0) return []
  const { placeOf } = readYaml(text)
  return found.map(({ field, ...problem }) => ({ file: path, ...placeOf(field), ...problem }))
}

/** Finds steps whose `with` does not match the declared input of the job they run, as far as it is known. */
export function findInputMismatches(
  files: readonly JobFileText[],
  known: ReadonlyMap<string, Pick<JobDefinition, 'input'>>,
): ProblemOfFile[] {
  return files.flatMap((file) => {
    const mismatches = subJobsOf(file.definition).flatMap((sub) =>
      inputMismatches(sub, known.get(sub.job)),
    )
    return locateProblems(file, mismatches)
  })
}

/** Finds references to a job that no file defines while a file has a similar name. */
export function findMisspelledJobs(files: readonly JobFileText[]): ProblemOfFile[] {
  const names = files.map(({ name }) => name)
  return files.flatMap((file) => {
    const misspelled = subJobsOf(file.definition).flatMap(({ job, at }) => {
      const suggestion = names.includes(job) ? undefined : nearestName(job, names)
      if (suggestion === undefined) return []
      const message = `${at}.job: no file here defines the job ${job}; did you mean ${suggestion}?`
      return [{ field: `${at}.job`, code: 'unknown_job', message, hint: ASK_THE_SERVER }]
    })
    return locateProblems(file, misspelled)
  })
}

const ASK_THE_SERVER = 'It may be on the server: `punctual plan` looks there.'

function inputMismatches(
  { job, at, step }: SubJob,
  target: Pick<JobDefinition, 'input'> | undefined,
) {
  const parameters = target?.input ?? {}
  const { with: given, each } = step
  // An input that is one expression, or a fan-out item, is only known when the step runs.
  const isKnown = given === undefined ? each === undefined : isObject(given)
  if (Object.keys(parameters).length === 0 || !isKnown) return []
  const values = (given ?? {}) as Readonly<Record<string, unknown>>
  const problem = (name: string, code: 'unknown_field' | 'missing_field' | 'invalid_field') => {
    const field = `${at}.with.${name}`
    return (what: string) => ({ field, code, message: `${field} ${what}` })
  }
  const unknownFields = Object.keys(values)
    .filter((name) => !Object.hasOwn(parameters, name))
    .map((name) => {
      const suggestion = nearestName(name, Object.keys(parameters))
      const advice = suggestion === undefined ? '' : `; did you mean ${suggestion}?`
      return problem(name, 'unknown_field')(`is not an input of the job ${job}${advice}`)
    })
  const others = Object.entries(parameters).flatMap(([name, parameter]) => {
    if (!Object.hasOwn(values, name)) {
      const isRequired = parameter.required ?? parameter.default === undefined
      return isRequired
        ? [problem(name, 'missing_field')(`is missing: the job ${job} needs it`)]
        : []
    }
    const why = isConstant(values[name]) ? refuseValue(parameter, values[name]) : undefined
    return why === undefined ? [] : [problem(name, 'invalid_field')(`${why} for the job ${job}`)]
  })
  return [...unknownFields, ...others]
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether the value contains no expression. */
function isConstant(value: unknown): boolean {
  return !JSON.stringify(value).includes('${{')
}
