import type { WireStep } from '../../core/workflow/views/step-views.ts'
import type { WireRun } from '../../core/wire/runs.ts'
import { everyPage } from './every-page.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import type { ServerCalls } from '../server/server-calls.ts'

export function stepPath(id: string, step: string): string {
  return `/v1/runs/${id}/steps/${encodeURIComponent(step)}`
}

/** The named step, or the only one that waits for an approval. */
export async function findWaiting(
  calls: ServerCalls,
  id: string,
  named: string | undefined,
): Promise<WireStep> {
  if (named !== undefined) return calls.call<WireStep>('GET', stepPath(id, named))
  const waiting = await everyPage<WireStep>(calls, `/v1/runs/${id}/steps?state=waiting`, 500)
  const [first, ...others] = waiting
  if (first && others.length === 0) return first
  const { state } = await calls.call<WireRun>('GET', `/v1/runs/${id}`)
  if (!first) {
    const message = `no step of ${id} waits to be approved; the run is ${state}`
    throw new Failure(message, { exitCode: EXIT.conflict, next: `punctual steps ${id}` })
  }
  const hint = `Say which: ${waiting.map(({ name }) => name).join(', ')}.`
  throw new Failure(`${waiting.length} steps wait`, { exitCode: EXIT.usage, hint })
}
