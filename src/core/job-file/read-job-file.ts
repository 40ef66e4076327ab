import { type JobDefinition, schedulesIn } from '../job/job-definition.ts'
import { readExpectations } from '../expectation/expectations.ts'
import { LIMITS, NAME } from '../limits.ts'
import { readSchedule } from '../schedule/definition/schedule-definition.ts'
import { explain } from '../schema/find-problems.ts'
import { JobFile } from '../schema/job-file-schema.ts'
import { attempt, type OnProblem } from '../workflow/problems.ts'
import { readJob } from '../job/read-job.ts'
import { readWorkflow } from '../workflow/read-workflow.ts'
import { expand } from './expand.ts'
import { jobOfFile } from './file-name.ts'
import { insteadOf } from './foreign-fields.ts'
import { type Place, readYaml, type YamlSource } from './yaml-source.ts'

/** Something wrong with a file, and where. */
export interface FileProblem extends Place {
  readonly code: string
  readonly message: string
  readonly hint?: string | undefined
}

export type ReadJobFile =
  | { readonly name: string; readonly definition: JobDefinition; readonly problems: readonly [] }
  | { readonly name: string; readonly definition: null; readonly problems: readonly FileProblem[] }

/** The job in a file, or everything that is wrong with it. Needs no server. */
export function readJobFile(path: string, text: string, zone: string): ReadJobFile {
  const name = jobOfFile(path) ?? ''
  const source = readYaml(text)
  const problems = [
    ...(NAME.test(name) ? [] : [badName(name)]),
    ...source.problems.map(({ message, hint, place }) => ({
      ...{ ...place, code: 'invalid_yaml', message },
      ...(hint === undefined ? {} : { hint }),
    })),
  ]
  if (problems.length > 0) return { name, definition: null, problems }
  const shape = shapeProblems(source)
  if (shape.length > 0) return { name, definition: null, problems: shape }
  const { definition, found } = readMeaning(source, name, zone)
  return found.length > 0
    ? { name, definition: null, problems: found }
    : { name, definition, problems: [] }
}

function shapeProblems({ value, placeOf }: YamlSource): FileProblem[] {
  if (value === null || value === undefined) {
    const message = 'the file says nothing'
    return [{ code: 'missing_field', message, hint: 'Try run: echo hello.', ...placeOf('') }]
  }
  return explain(JobFile, value).map(({ code, message, field, meant }) => {
    const hint = meant === undefined && code === 'unknown_field' ? insteadOf(field) : undefined
    const quoted = code === 'invalid_field' && /must be text/.test(message) ? QUOTE : undefined
    return { ...placeOf(field), code, message, hint: hint ?? quoted }
  })
}

const QUOTE = 'Put it into quotes: YAML takes bare numbers, true and false for something else.'

/** What the words mean together. */
function readMeaning(source: YamlSource, name: string, zone: string) {
  const { definition, origins, problems } = expand(
    source.value as Readonly<Record<string, unknown>>,
  )
  const inFile = (field: string): string => {
    const origin = origins.find(([from]) => field === from || field.startsWith(`${from}.`))
    return origin ? origin[1] : field
  }
  const found: FileProblem[] = problems.map(({ field, message }) => ({
    ...{ ...source.placeOf(field), code: 'invalid_field', message },
  }))
  const onProblem: OnProblem = ({ code, message, hint, field = '', isGeneral }) => {
    const place = source.placeOf(inFile(field))
    const said = inFile(field) === field ? message : message.replace(field, inFile(field))
    found.push({ ...place, code, message: said, hint: isGeneral ? undefined : hint })
  }
  if (found.length > 0) return { definition, found }
  attempt(onProblem, () => {
    for (const { name: called, at, definition: rule } of schedulesIn(definition)) {
      attempt(onProblem, () => readSchedule(rule, { zone, seed: `${name}/${called}`, at }))
    }
  })
  attempt(onProblem, () => readExpectations(definition, ''))
  if (definition.steps === undefined) {
    if (!WORKS.some((work) => definition[work] !== undefined)) found.push(noWork(source))
    attempt(onProblem, () => readJob(definition, name))
  } else {
    // What is wrong with parameters is told by both, and wanted once.
    const before = found.length
    readWorkflow(definition, { job: name, onProblem })
    if (found.length === before) attempt(onProblem, () => readJob(definition, name))
  }
  return { definition, found }
}

const WORKS = ['run', 'argv', 'script', 'http', 'container', 'task'] as const

function noWork({ placeOf }: YamlSource): FileProblem {
  const message = `the job does nothing: it has no steps, and none of ${WORKS.join(', ')}`
  return { ...placeOf(''), code: 'missing_field', message }
}

function badName(name: string): FileProblem {
  const message = `the file would be the job "${name.slice(0, 64)}", and that is not a name`
  const hint = `Call it <name>.job.yaml: 1 to ${LIMITS.nameLength} of A-Z a-z 0-9 . _ - before that.`
  return { line: 1, column: 1, length: 1, code: 'invalid_field', message, hint }
}
