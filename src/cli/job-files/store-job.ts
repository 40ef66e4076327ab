import type { ImportedJob } from '../../core/schedule/crontab/jobs.ts'
import type { WireJob } from '../../core/job/job-views.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { jobPath } from '../find/find-job.ts'
import type { ServerCalls } from '../server/server-calls.ts'

/** The outcome of storing a job. */
export interface StoreOutcome {
  readonly outcome: 'planned' | 'made' | 'same' | 'replaced' | 'failed'
  /** Why it failed. */
  readonly message: string | null
}

/**
 * Creates a job idempotently. A different job with the same name is left alone unless it may be
 * replaced. An error is part of the outcome, so that other jobs are still stored.
 */
export async function storeJob(
  calls: ServerCalls,
  { name, definition }: ImportedJob,
  mayReplace: boolean,
): Promise<StoreOutcome> {
  const there = await findJob(calls, name)
  if (there && isSame(there.definition, definition)) return { outcome: 'same', message: null }
  if (there && !mayReplace) {
    const message = `there is a job ${name} already, and it says something else`
    return { outcome: 'failed', message: `${message}: --replace changes it, --prefix avoids it` }
  }
  // Conditional on the version that was read.
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

/** Errors about permissions or the connection would repeat with the next job. */
function isAboutThis({ exitCode }: Failure): boolean {
  return exitCode === EXIT.usage || exitCode === EXIT.conflict
}

/** Whether two JSON values are equal, regardless of the order of their members. */
export function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b) return a === b
  const names = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...names].every((name) =>
    isSame((a as Record<string, unknown>)[name], (b as Record<string, unknown>)[name]),
  )
}
