import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { jobOfFile } from '../../core/job-file/file-name.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'

export interface FoundFile {
  /** The path in messages, relative to the current directory. */
  readonly path: string
  readonly text: string
}

const SKIPPED = new Set(['node_modules', 'dist'])
const LARGEST = 64 * 1024 * 1024

/** The named job files, and all job files in the named folders. */
export function findFiles(paths: readonly string[], cwd: string): FoundFile[] {
  const files = paths.flatMap((path) => filesOf(resolve(cwd, path), path))
  const unique = [...new Set(files)].toSorted()
  return unique.map((file) => ({ path: relative(cwd, file) || file, text: read(file) }))
}

function filesOf(path: string, shownPath: string): string[] {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats) throw new Failure(`there is no ${shownPath}`, { exitCode: EXIT.usage })
  if (stats.isDirectory()) return below(path)
  if (jobOfFile(path) !== undefined) return [path]
  const hint = 'Files with jobs are called <name>.job.yaml, .job.yml or .job.json.'
  throw new Failure(`${shownPath} is not a job file`, { exitCode: EXIT.usage, hint })
}

function below(folder: string): string[] {
  const folders = [folder]
  const found: string[] = []
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    for (const entry of readdirSync(next, { withFileTypes: true })) {
      const path = join(next, entry.name)
      if (entry.isDirectory()) {
        if (!entry.name.startsWith('.') && !SKIPPED.has(entry.name)) folders.push(path)
      } else if (jobOfFile(entry.name) !== undefined) found.push(path)
    }
  }
  return found
}

function read(path: string): string {
  if (statSync(path).size > LARGEST) {
    throw new Failure(`${path} is larger than ${LARGEST} bytes`, { exitCode: EXIT.usage })
  }
  return readFileSync(path, 'utf8')
}
