import { type JobDefinition, schedulesIn } from '../job/job-definition.ts'
import { readExpectations } from '../expectation/expectations.ts'
import { LIMITS, NAME } from '../limits.ts'
import { readSchedule } from '../schedule/definition/schedule-definition.ts'
import { findSchemaProblems } from '../schema/find-problems.ts'
import type { OnWarning } from '../expression/shell/shell-warnings.ts'
import { JobFileSchema } from '../schema/job-file-schema.ts'
import { collectProblem, type OnProblem } from '../workflow/problems.ts'
import { readJob } from '../job/read-job.ts'
import { readWorkflow } from '../workflow/reading/read-workflow.ts'
import { expand } from './expand.ts'
import { jobOfFile } from './file-name.ts'
import { replacementFor } from './foreign-fields.ts'
import { type Place, readYaml, type YamlSource } from './yaml-source.ts'

/** A problem in a file, with its position. */
export interface FileProblem extends Place {
  readonly code: string
  readonly message: string
  readonly hint?: string | undefined
}

export type ReadJobFile = {
  readonly name: string
  /** Uses that are allowed but may be dangerous. */
  readonly warnings: readonly FileProblem[]
} & (
  | { readonly definition: JobDefinition; readonly problems: readonly [] }
  | { readonly definition: null; readonly problems: readonly FileProblem[] }
)

/** Reads the job in a file, or lists all its problems. Needs no server. */
export function readJobFile(path: string, text: string, zone: string): ReadJobFile {
  const name = jobOfFile(path) ?? ''
  const source = readYaml(text)
  const problems = [
    ...(NAME.test(name) ? [] : [invalidName(name)]),
    ...source.problems.map(({ message, hint, place }) => ({
      ...place,
      code: 'invalid_yaml',
      message,
      ...(hint === undefined ? {} : { hint }),
    })),
  ]
  if (problems.length > 0)
    return { name, definition: null, problems: atMost(problems), warnings: [] }
  const shape = shapeProblems(source)
  if (shape.length > 0) return { name, definition: null, problems: atMost(shape), warnings: [] }
  const { definition, found, warnings } = checkDefinition(source, name, zone)
  return found.length > 0
    ? { name, definition: null, problems: atMost(found), warnings }
    : { name, definition, problems: [], warnings }
}

/** Maximum number of reported problems: a faulty generator may produce one on every line. */
const MAX_PROBLEMS = 1_000

function atMost(problems: readonly FileProblem[]): readonly FileProblem[] {
  const next = problems[MAX_PROBLEMS]
  if (!next) return problems
  const { line, column, length, code } = next
  const message = `${problems.length - MAX_PROBLEMS} more problems, from here on, are not listed`
  return [...problems.slice(0, MAX_PROBLEMS), { line, column, length, code, message }]
}

function shapeProblems({ value, placeOf }: YamlSource): FileProblem[] {
  if (value === null || value === undefined) {
    const message = 'the file is empty'
    return [{ code: 'missing_field', message, hint: 'Try run: echo hello.', ...placeOf('') }]
  }
  return findSchemaProblems(JobFileSchema, value).map(({ code, message, field, suggestion }) => {
    const hint =
      suggestion === undefined && code === 'unknown_field' ? replacementFor(field) : undefined
    const quoted = code === 'invalid_field' && /must be text/.test(message) ? QUOTE : undefined
    return { ...placeOf(field), code, message, hint: hint ?? quoted }
  })
}

const QUOTE = 'Put it in quotes: YAML reads bare numbers, true and false as other types.'

/** Checks the fields in combination. */
function checkDefinition(source: YamlSource, name: string, zone: string) {
  const { definition, origins, problems } = expand(
    source.value as Readonly<Record<string, unknown>>,
  )
  const inFile = (field: string): string => {
    const origin = origins.find(([from]) => field === from || field.startsWith(`${from}.`))
    return origin ? origin[1] : field
  }
  const found: FileProblem[] = problems.map(({ field, message }) => ({
    ...source.placeOf(field),
    code: 'invalid_field',
    message,
  }))
  const onProblem: OnProblem = ({ code, message, hint, field = '', isGeneral, range }) => {
    const place = range
      ? source.placeIn(inFile(field), range.at, range.length)
      : source.placeOf(inFile(field))
    const fullMessage = inFile(field) === field ? message : message.replace(field, inFile(field))
    found.push({ ...place, code, message: fullMessage, hint: isGeneral ? undefined : hint })
  }
  const warnings: FileProblem[] = []
  const onWarning: OnWarning = ({ code, message, hint, field, at, length }) => {
    const place = source.placeIn(inFile(field), at, length)
    warnings.push({ ...place, code, message: message.replace(field, inFile(field)), hint })
  }
  if (found.length > 0) return { definition, found, warnings }
  collectProblem(onProblem, () => {
    for (const { name: scheduleName, at, definition: rule } of schedulesIn(definition)) {
      collectProblem(onProblem, () =>
        readSchedule(rule, { zone, seed: `${name}/${scheduleName}`, at }),
      )
    }
  })
  collectProblem(onProblem, () => readExpectations(definition, ''))
  if (definition.steps === undefined) {
    if (!WORKS.some((work) => definition[work] !== undefined)) found.push(missingWork(source))
    collectProblem(onProblem, () => readJob(definition, name, onWarning))
  } else {
    // Both readers report problems of parameters; the second report is dropped.
    const before = found.length
    // Too many steps are reported as a whole, before any step is read.
    collectProblem(onProblem, () => readWorkflow(definition, { job: name, onProblem, onWarning }))
    if (found.length === before) collectProblem(onProblem, () => readJob(definition, name))
  }
  return { definition, found, warnings }
}

const WORKS = ['run', 'argv', 'script', 'http', 'container', 'task'] as const

function missingWork({ placeOf }: YamlSource): FileProblem {
  const message = `the job does nothing: it has no steps, and none of ${WORKS.join(', ')}`
  return { ...placeOf(''), code: 'missing_field', message }
}

function invalidName(name: string): FileProblem {
  const message = `the file name gives the job the name "${name.slice(0, 64)}", which is not valid`
  const hint = `Name it <name>.job.yaml: 1 to ${LIMITS.nameLength} of A-Z a-z 0-9 . _ - before that.`
  return { line: 1, column: 1, length: 1, code: 'invalid_field', message, hint }
}
