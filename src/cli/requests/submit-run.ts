import type { SubmitAnswer } from '../../core/wire/protocol.ts'
import { Failure } from '../errors/failure.ts'
import type { ServerCalls } from '../server/server-calls.ts'

/** Submits a run and returns its id, which becomes `@last`. */
export async function submitRun(calls: ServerCalls, body: object): Promise<string> {
  try {
    const { id } = await calls.call<SubmitAnswer>('POST', '/v1/runs', body)
    calls.lastRun.remember(id)
    return id
  } catch (error) {
    throw error instanceof Failure && error.problem?.field === 'job'
      ? unknownJob(error, body)
      : error
  }
}

/** Replaces the server's hint about a request field by one about the flag. */
function unknownJob(error: Failure, body: { job?: string }): Failure {
  if (error.code !== 'job_not_found' || body.job === undefined) return error
  const { exitCode, problem } = error
  const hint = `\`punctual ls\` lists the jobs. If it is a handler whose worker comes later, say so: punctual run --task ${body.job}`
  return new Failure(error.message, { exitCode, hint, problem })
}
