import type { Json } from '../../core/expression/expression.ts'
import { WHOLE } from '../../core/flow/facts.ts'
import type { FlowStore } from '../../store/port.ts'
import type { Payloads } from '../payloads/payloads.ts'
import type { HeldFlow } from './held-flow.ts'

/** So many results are asked for at once, and so many of those that are kept elsewhere are read at once. */
const AT_ONCE = 1_000
const READ_AT_ONCE = 8

/**
 * What came of steps that others refer to. A fan-out gives the list of what came of its items, an
 * approval what was answered; what has nothing to say gives null.
 */
export async function readOutputs(
  { runs, answers }: HeldFlow,
  steps: Iterable<number>,
  deps: { readonly store: Pick<FlowStore, 'resultsOf'>; readonly payloads: Payloads },
): Promise<ReadonlyMap<number, Json>> {
  const wanted = new Map<number, number | null | readonly (number | null)[]>()
  for (const step of steps) {
    const isFanOut = runs.countOf(step) !== null
    wanted.set(step, isFanOut ? runs.itemRuns(step) : runs.runOf({ step, item: WHOLE }))
  }
  const runIds = [...wanted.values()].flat().filter((runId) => runId !== null)
  const results = await readResults(runIds, deps)
  const outputs = new Map<number, Json>()
  for (const [step, of] of wanted) {
    const own = (runId: number | null) => (runId === null ? null : (results.get(runId) ?? null))
    const isList = typeof of === 'object' && of !== null
    outputs.set(step, answers.get(step) ?? (isList ? of.map(own) : own(of)))
  }
  return outputs
}

async function readResults(
  runIds: readonly number[],
  { store, payloads }: Parameters<typeof readOutputs>[2],
): Promise<ReadonlyMap<number, Json>> {
  const results = new Map<number, Json>()
  for (let from = 0; from < runIds.length; from += AT_ONCE) {
    const some = await store.resultsOf({ runIds: runIds.slice(from, from + AT_ONCE) })
    const left = some.values()
    const read = async () => {
      for (const { runId, result } of left) {
        if (result === null) continue
        results.set(runId, asJson(await payloads.read(runId, 'result', result)))
      }
    }
    await Promise.all(Array.from({ length: READ_AT_ONCE }, read))
  }
  return results
}

/** What a worker sends as a result need not be JSON; then it is a text. */
function asJson(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}
