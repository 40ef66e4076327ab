import type { ImportedJob } from '../../core/schedule/crontab/jobs.ts'
import type { WireJob } from '../../core/wire/views.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { jobPath } from '../find/find-schedule.ts'
import type { ServerCalls } from '../server/server-calls.ts'

/** What became of a job that was to be stored. */
export interface StoreFate {
  readonly outcome: 'planned' | 'made' | 'same' | 'replaced' | 'failed'
  /** Why it failed. */
  readonly message: string | null
}

/**
 * Makes a job, so that doing it again changes nothing. One of the same name that says something else is
 * left alone unless it may be replaced. What the server refuses is told, and others go on.
 */
export async function storeJob(
  calls: ServerCalls,
  { name, definition }: ImportedJob,
  mayReplace: boolean,
): Promise<StoreFate> {
  const there = await findJob(calls, name)
  if (there && isSame(there.definition, definition)) return { outcome: 'same', message: null }
  if (there && !mayReplace) {
    const message = `there is a job ${name} already, and it says something else`
    return { outcome: 'failed', message: `${message}: --replace changes it, --prefix avoids it` }
  }
  // Only what was seen is changed.
  const headers: Record<string, string> = there
    ? { 'if-match': `"${there.version}"` }
    : { 'if-none-match': '*' }
  try {
    await calls.call('PUT', jobPath(name), definition, { headers })
    return { outcome: there ? 'replaced' : 'made', message: null }
  } catch (error) {
    if (!(error instanceof Failure) || !isAboutThis(error)) throw error
    return { outcome: 'failed', message: error.message }
  }
}

async function findJob(calls: ServerCalls, name: string): Promise<WireJob | null> {
  try {
    return await calls.call<WireJob>('GET', jobPath(name))
  } catch (error) {
    if (error instanceof Failure && error.code === 'job_not_found') return null
    throw error
  }
}

/** Whoever may not, or reaches nobody, need not try with the next one. */
function isAboutThis({ exitCode }: Failure): boolean {
  return exitCode === EXIT.usage || exitCode === EXIT.conflict
}

function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b) return a === b
  const names = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...names].every((name) =>
    isSame((a as Record<string, unknown>)[name], (b as Record<string, unknown>)[name]),
  )
}
