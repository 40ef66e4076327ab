import type { WireJob } from '../../core/job/job-views.ts'
import { NAME } from '../../core/limits.ts'
import type { WireRun } from '../../core/wire/runs.ts'
import type { WirePage } from '../../core/wire/views.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import type { ServerCalls } from '../server/server-calls.ts'

const SHOWN_RUNS = 5

/** The job of this name; undefined if there is none. */
export async function fetchJob(calls: ServerCalls, name: string): Promise<WireJob | undefined> {
  if (!NAME.test(name)) return undefined
  try {
    return await calls.call<WireJob>('GET', jobPath(name))
  } catch (error) {
    if (error instanceof Failure && error.exitCode === EXIT.notFound) return undefined
    throw error
  }
}

/** Fails if there is no such job: an empty list of what it has may mean a mistyped name. */
export async function requireJob(calls: ServerCalls, name: string): Promise<WireJob> {
  return calls.call<WireJob>('GET', jobPath(name))
}

export async function latestRuns(calls: ServerCalls, job: string): Promise<readonly WireRun[]> {
  const query = new URLSearchParams({ limit: String(SHOWN_RUNS), job, q: 'steps:no' })
  return (await calls.call<WirePage<WireRun>>('GET', `/v1/runs?${query.toString()}`)).data
}

export function jobPath(job: string): string {
  return `/v1/jobs/${encodeURIComponent(job)}`
}
