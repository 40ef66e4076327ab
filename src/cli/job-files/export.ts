import { existsSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import type { WireJob } from '../../core/job/job-views.ts'
import { everyPage } from '../find/every-page.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { jobPath } from '../find/find-job.ts'
import { makeDirectory, reasonOf } from '../files/make-directory.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { counted } from './counted.ts'

const MOST_JOBS = 100_000

/** Writes jobs as files. Existing files are overwritten only on request. */
export async function exportJobs(
  terminal: Terminal,
  calls: ServerCalls,
  names: readonly string[],
  { to, force }: { to?: string; force?: true },
): Promise<void> {
  const { writeJobFile } = await import('../../core/job-file/write-job-file.ts')
  const jobs = await jobsNamed(calls, names)
  if (to === undefined) {
    const [job, second] = jobs
    if (!job || second) {
      const hint = 'Name a folder with --to, or one job.'
      throw new Failure(`there are ${jobs.length} jobs`, { exitCode: EXIT.usage, hint })
    }
    return terminal.out(writeJobFile(job.definition))
  }
  const folder = resolve(terminal.cwd, to)
  const files = jobs.map(({ name, definition }) => {
    return { path: join(folder, `${name}.job.yaml`), text: writeJobFile(definition) }
  })
  const taken = force ? undefined : files.find(({ path }) => existsSync(path))
  if (taken) {
    const path = relative(terminal.cwd, taken.path)
    const hint = 'Nothing was written. --force overwrites it.'
    throw new Failure(`${path} exists already`, { exitCode: EXIT.conflict, hint })
  }
  try {
    makeDirectory(folder)
  } catch (error) {
    const hint = 'Name a folder that this user can write to.'
    throw new Failure(`${to} cannot be made: ${reasonOf(error)}`, { exitCode: EXIT.usage, hint })
  }
  for (const { path, text } of files) writeFileSync(path, text)
  terminal.err(`✔ ${counted(files.length, 'file')} in ${to}\n`)
}

async function jobsNamed(calls: ServerCalls, names: readonly string[]): Promise<WireJob[]> {
  if (names.length === 0) return everyPage<WireJob>(calls, '/v1/jobs?', MOST_JOBS)
  return Promise.all(names.map((name) => calls.call<WireJob>('GET', jobPath(name))))
}
