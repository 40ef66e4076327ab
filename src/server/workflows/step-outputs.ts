import { isLasting, PunctualError } from '../../core/errors.ts'
import type { Json } from '../../core/expression/expression.ts'
import { WHOLE_STEP } from '../../core/workflow/progress/step-facts.ts'
import { LIMITS } from '../../core/limits.ts'
import type { WorkflowStore, RunResult } from '../../store/port.ts'
import type { Payloads } from '../payloads/payloads.ts'
import { readReference } from '../payloads/reference.ts'
import type { LoadedWorkflow } from './loaded-workflow.ts'

/** Maximum number of results requested at once, and of blobs read at once. */
const AT_ONCE = 1_000
const READ_AT_ONCE = 8

/** Output by step; an error stands for an output that is lost or too large. */
export type StepOutputs = ReadonlyMap<number, Json | PunctualError>

interface Deps {
  readonly store: Pick<WorkflowStore, 'resultsOf'>
  readonly payloads: Payloads
}

/**
 * Reads the outputs of steps that others refer to. A fan-out yields the list of its items' results,
 * an approval its answer, a step without output null. Returns null, before reading anything, if the
 * outputs are small enough one by one but too large together.
 */
export async function readOutputs(
  loaded: LoadedWorkflow,
  steps: Iterable<number>,
  deps: Deps,
): Promise<StepOutputs | null> {
  const { runs, answers } = loaded
  const outputs = new Map<number, Json | PunctualError>()
  const single = new Map<number, number>()
  const lists = new Map<number, readonly (number | null)[]>()
  for (const step of steps) {
    const runId = runs.runOf({ step, item: WHOLE_STEP })
    outputs.set(step, answers.get(step) ?? null)
    if (runs.countOf(step) !== null) lists.set(step, runs.itemRuns(step))
    else if (runId !== null && !answers.has(step)) single.set(step, runId)
  }
  const found = await findResults([...single.values()], LIMITS.outputBytes, deps)
  if (!found) return null
  const toRead = [...found.results]
  let remaining = LIMITS.outputBytes - found.bytes
  for (const [step, list] of lists) {
    const runIds = list.filter((runId) => runId !== null)
    const items = await findResults(runIds, LIMITS.outputBytes, deps)
    if (!items) {
      outputs.set(step, tooMuch())
      lists.delete(step)
      continue
    }
    remaining -= items.bytes
    if (remaining < 0) return null
    toRead.push(...items.results)
  }
  const results = await readResults(toRead, deps)
  const own = (runId: number | null) => (runId === null ? null : (results.get(runId) ?? null))
  for (const [step, runId] of single) outputs.set(step, own(runId))
  for (const [step, list] of lists) outputs.set(step, whole(list.map(own)))
  return outputs
}

export function tooMuch(): PunctualError {
  const message = `the outputs it needs are more than ${LIMITS.outputBytes} bytes together`
  return new PunctualError('invalid_expression', message)
}

/** If one item is missing, the list would have another meaning. */
function whole(items: readonly (Json | PunctualError)[]): Json | PunctualError {
  const lost = items.find((item) => item instanceof PunctualError)
  return lost ?? (items as readonly Json[])
}

/** The results as rows have them; null as soon as they exceed the limit. */
async function findResults(
  runIds: readonly number[],
  remaining: number,
  { store }: Deps,
): Promise<{ readonly bytes: number; readonly results: readonly RunResult[] } | null> {
  const results: RunResult[] = []
  let bytes = 0
  for (let from = 0; from < runIds.length; from += AT_ONCE) {
    const some = await store.resultsOf({ runIds: runIds.slice(from, from + AT_ONCE) })
    for (const one of some) {
      bytes += readReference(one.runId, one.result)?.bytes ?? one.result?.length ?? 0
      results.push(one)
    }
    if (bytes > remaining) return null
  }
  return { bytes, results }
}

async function readResults(
  rows: readonly RunResult[],
  { payloads }: Deps,
): Promise<ReadonlyMap<number, Json | PunctualError>> {
  const results = new Map<number, Json | PunctualError>()
  const left = rows.values()
  const read = async () => {
    for (const { runId, result } of left) {
      if (result !== null) results.set(runId, await readResult(runId, result, payloads))
    }
  }
  await Promise.all(Array.from({ length: READ_AT_ONCE }, read))
  return results
}

async function readResult(
  runId: number,
  text: string,
  payloads: Payloads,
): Promise<Json | PunctualError> {
  try {
    return asJson(await payloads.read(runId, 'result', text))
  } catch (error) {
    if (isLasting(error)) return error
    throw error
  }
}

/** A worker may send a result that is not JSON; it counts as a string. */
function asJson(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}
