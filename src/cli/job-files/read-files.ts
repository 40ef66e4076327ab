import type { JobDefinition } from '../../core/job/job-definition.ts'
import type { FileProblem, ReadJobFile } from '../../core/job-file/read-job-file.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { counted } from './counted.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { showProblem } from './code-frame.ts'
import { findFiles, type FoundFile } from './find-files.ts'

export interface JobOfFile {
  readonly path: string
  readonly name: string
  readonly definition: JobDefinition
}

export interface FilesRead {
  readonly files: readonly FoundFile[]
  readonly jobs: readonly JobOfFile[]
  readonly problems: readonly (FileProblem & { readonly file: string })[]
}

/** Reads every file; what is wrong with one does not hide what is wrong with the next. */
export async function readFiles(
  paths: readonly string[],
  { cwd, zone }: Pick<Terminal, 'cwd' | 'zone'>,
): Promise<FilesRead> {
  // Loaded here, for the same reason as all rules of time.
  const { readJobFile } = await import('../../core/job-file/read-job-file.ts')
  const { findCircles } = await import('../../core/job-file/cycles.ts')
  const files = findFiles(paths.length > 0 ? paths : ['.'], cwd)
  const jobs: (JobOfFile & FoundFile)[] = []
  const problems: (FileProblem & { file: string })[] = []
  const pathOf = new Map<string, string>()
  for (const { path, text } of files) {
    const read: ReadJobFile = readJobFile(path, text, zone)
    problems.push(...read.problems.map((problem) => ({ file: path, ...problem })))
    const earlier = pathOf.get(read.name)
    if (earlier !== undefined) problems.push(sameName(path, read.name, earlier))
    pathOf.set(read.name, path)
    if (read.definition) jobs.push({ path, text, name: read.name, definition: read.definition })
  }
  problems.push(...findCircles(jobs))
  return { files, jobs, problems }
}

/** Shows what is wrong, for people; programs get it as a list. */
export function tellProblems(terminal: Terminal, { files, problems }: FilesRead): void {
  for (const { file, ...problem } of problems) {
    const text = files.find(({ path }) => path === file)?.text ?? ''
    terminal.err(showProblem(terminal, file, text, problem))
  }
  const wrong = new Set(problems.map(({ file }) => file)).size
  terminal.err(
    `${counted(problems.length, 'error')} in ${wrong} of ${counted(files.length, 'file')}\n`,
  )
}

/** The jobs, if nothing is wrong with any of them: half a folder is nobody's wish. */
export function jobsOrFailure(terminal: Terminal, read: FilesRead): readonly JobOfFile[] {
  if (read.problems.length === 0) return read.jobs
  tellProblems(terminal, read)
  const hint = 'Nothing was changed. Correct the files and try again.'
  throw new Failure('some files are not in order', {
    ...{ exitCode: EXIT.usage, code: 'invalid_file', hint },
  })
}

function sameName(file: string, name: string, earlier: string) {
  const message = `${earlier} is the job ${name} already`
  const hint = 'Names of files are names of jobs, whatever folder they are in.'
  return { file, line: 1, column: 1, length: 1, code: 'duplicate_job', message, hint }
}
