import type { JobDefinition } from '../../core/job/job-definition.ts'
import type { FileProblem, ReadJobFile } from '../../core/job-file/read-job-file.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { counted } from './counted.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { showProblem } from './code-frame.ts'
import { findFiles, type FoundFile } from './find-files.ts'

export interface JobOfFile {
  readonly path: string
  readonly text: string
  readonly name: string
  readonly definition: JobDefinition
}

export interface FilesRead {
  readonly files: readonly FoundFile[]
  readonly jobs: readonly JobOfFile[]
  readonly problems: readonly (FileProblem & { readonly file: string })[]
  readonly warnings: readonly (FileProblem & { readonly file: string })[]
}

/** Reads every file, and reports the problems of all of them. */
export async function readFiles(
  paths: readonly string[],
  { cwd, zone }: Pick<Terminal, 'cwd' | 'zone'>,
): Promise<FilesRead> {
  // Loaded on demand, like all schedule rules.
  const { readJobFile } = await import('../../core/job-file/read-job-file.ts')
  const { findCycles } = await import('../../core/job-file/cycles.ts')
  const { findInputMismatches } = await import('../../core/job-file/sub-jobs.ts')
  const files = findFiles(paths.length > 0 ? paths : ['.'], cwd)
  const jobs: JobOfFile[] = []
  const problems: (FileProblem & { file: string })[] = []
  const warnings: (FileProblem & { file: string })[] = []
  const pathOf = new Map<string, string>()
  for (const { path, text } of files) {
    const read: ReadJobFile = readJobFile(path, text, zone)
    problems.push(...read.problems.map((problem) => ({ file: path, ...problem })))
    warnings.push(...read.warnings.map((warning) => ({ file: path, ...warning })))
    const earlier = pathOf.get(read.name)
    if (earlier !== undefined) problems.push(sameName(path, read.name, earlier))
    pathOf.set(read.name, path)
    if (read.definition) jobs.push({ path, text, name: read.name, definition: read.definition })
  }
  problems.push(...findCycles(jobs))
  const definitions = new Map(jobs.map(({ name, definition }) => [name, definition]))
  problems.push(...findInputMismatches(jobs, definitions))
  return { files, jobs, problems, warnings }
}

/** Prints the problems for people; programs get them as a list. */
export function printProblems(terminal: Terminal, { files, problems }: FilesRead): void {
  for (const { file, ...problem } of problems) {
    const text = files.find(({ path }) => path === file)?.text ?? ''
    terminal.err(showProblem(terminal, file, text, problem))
  }
  const wrong = new Set(problems.map(({ file }) => file)).size
  terminal.err(
    `${counted(problems.length, 'error')} in ${wrong} of ${counted(files.length, 'file')}\n`,
  )
}

/** Prints what is allowed but may be dangerous. */
export function printWarnings(terminal: Terminal, { files, warnings }: FilesRead): void {
  for (const { file, ...warning } of warnings) {
    const text = files.find(({ path }) => path === file)?.text ?? ''
    terminal.err(showProblem(terminal, file, text, warning, 'warning'))
  }
}

/** The jobs, if all files are valid: applying half a folder is never intended. */
export function jobsOrFailure(terminal: Terminal, read: FilesRead): readonly JobOfFile[] {
  printWarnings(terminal, read)
  if (read.problems.length === 0) return read.jobs
  printProblems(terminal, read)
  const hint = 'Nothing was changed. Correct the files and try again.'
  throw new Failure('some files have errors', {
    exitCode: EXIT.usage,
    code: 'invalid_file',
    hint,
  })
}

/** Reports problems that only the server can detect. */
export async function refuseUnknown(
  terminal: Terminal,
  calls: ServerCalls,
  read: FilesRead,
  deleted: ReadonlySet<string>,
): Promise<void> {
  const { checkReferences } = await import('./check-references.ts')
  const { problems, warnings } = await checkReferences(calls, read.jobs, deleted)
  jobsOrFailure(terminal, { ...read, problems, warnings })
}

function sameName(file: string, name: string, earlier: string) {
  const message = `${earlier} is the job ${name} already`
  const hint = 'Names of files are names of jobs, whatever folder they are in.'
  return { file, line: 1, column: 1, length: 1, code: 'duplicate_job', message, hint }
}
