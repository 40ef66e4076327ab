import type { WirePage } from '../../core/wire/views.ts'
import type { WireJobVersion, WireJob } from '../../core/job/job-views.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { jobPath } from '../find/find-job.ts'
import type { ServerCalls } from '../server/server-calls.ts'

/** Versions never change, so restoring creates a new one; running runs keep theirs. */
export async function restoreVersion(
  calls: ServerCalls,
  job: string,
  version: number,
): Promise<WireJob> {
  const there = await calls.call<WireJob>('GET', jobPath(job))
  const old = await findVersion(calls, job, version)
  if (!old) {
    const hint = `It has the versions 1 to ${there.version}.`
    throw new Failure(`${job} has no version ${version}`, { exitCode: EXIT.notFound, hint })
  }
  const headers = { 'if-match': `"${there.version}"` }
  return calls.call<WireJob>('PUT', jobPath(job), old.definition, { headers })
}

async function findVersion(
  calls: ServerCalls,
  job: string,
  version: number,
): Promise<WireJobVersion | undefined> {
  let cursor: string | null = ''
  while (cursor !== null) {
    const query = `limit=500${cursor && `&cursor=${cursor}`}`
    const path = `${jobPath(job)}/versions?${query}`
    const page: WirePage<WireJobVersion> = await calls.call('GET', path)
    const found = page.data.find((one) => one.version === version)
    if (found) return found
    cursor = page.next_cursor
  }
  return undefined
}
