import { PunctualError } from '../../core/errors.ts'
import { planRetry } from '../../core/flow/retry.ts'
import { FLOW_EXECUTOR, type FlowWork, type RetryNames } from '../../core/flow/work.ts'
import type { FlowStore, RunRecord } from '../../store/port.ts'
import { readSteps } from './read-steps.ts'
import { asFacts, wishOf } from './take-over.ts'
import type { Compiled } from './workflow-book.ts'

/** What a run executes that repeats a part of this one. Throws if there is no such part. */
export async function workAgain(
  run: RunRecord,
  wanted: RetryNames,
  compiled: Compiled,
  store: Pick<FlowStore, 'flowSteps'>,
): Promise<string> {
  const names = [...(wanted.from ?? []), ...(wanted.skip ?? [])]
  const unknown = names.find((name) => !compiled.indexOf.has(name))
  if (unknown !== undefined) {
    throw new PunctualError('step_not_found', `there is no step ${unknown.slice(0, 100)}`)
  }
  const facts = asFacts(await readSteps(store, run.id))
  const { again, takenUp } = planRetry(compiled.graph, facts, wishOf(wanted, compiled.indexOf))
  if (again.length === 0 && takenUp.length === 0) {
    throw new PunctualError('nothing_to_retry', 'no step of the run would run again')
  }
  return JSON.stringify({ executor: FLOW_EXECUTOR, retry: wanted } satisfies FlowWork)
}
