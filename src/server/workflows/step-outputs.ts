import { isLasting, PunctualError } from '../../core/errors.ts'
import type { Json } from '../../core/expression/expression.ts'
import { WHOLE } from '../../core/workflow/step-facts.ts'
import { LIMITS } from '../../core/limits.ts'
import type { FlowStore, RunResult } from '../../store/port.ts'
import type { Payloads } from '../payloads/payloads.ts'
import { readReference } from '../payloads/reference.ts'
import type { HeldFlow } from './loaded-workflow.ts'

/** So many results are asked for at once, and so many of those that are kept elsewhere are read at once. */
const AT_ONCE = 1_000
const READ_AT_ONCE = 8

/** By step; an error stands for one that is lost, or too large. */
export type Outputs = ReadonlyMap<number, Json | PunctualError>

interface Deps {
  readonly store: Pick<FlowStore, 'resultsOf'>
  readonly payloads: Payloads
}

/**
 * What came of steps that others refer to. A fan-out gives the list of what came of its items, an
 * approval what was answered; what has nothing to say gives null. Null if it is more than may be read
 * at once, each being little enough: before any of it is read.
 */
export async function readOutputs(
  held: HeldFlow,
  steps: Iterable<number>,
  deps: Deps,
): Promise<Outputs | null> {
  const { runs, answers } = held
  const outputs = new Map<number, Json | PunctualError>()
  const single = new Map<number, number>()
  const lists = new Map<number, readonly (number | null)[]>()
  for (const step of steps) {
    const runId = runs.runOf({ step, item: WHOLE })
    outputs.set(step, answers.get(step) ?? null)
    if (runs.countOf(step) !== null) lists.set(step, runs.itemRuns(step))
    else if (runId !== null && !answers.has(step)) single.set(step, runId)
  }
  const found = await findResults([...single.values()], LIMITS.outputBytes, deps)
  if (!found) return null
  const toRead = [...found.results]
  let room = LIMITS.outputBytes - found.bytes
  for (const [step, list] of lists) {
    const runIds = list.filter((runId) => runId !== null)
    const items = await findResults(runIds, LIMITS.outputBytes, deps)
    if (!items) {
      outputs.set(step, tooMuch())
      lists.delete(step)
      continue
    }
    room -= items.bytes
    if (room < 0) return null
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

/** Without one of its items it would be another list. */
function whole(items: readonly (Json | PunctualError)[]): Json | PunctualError {
  const lost = items.find((item) => item instanceof PunctualError)
  return lost ?? (items as readonly Json[])
}

/** What their rows say; null as soon as that is more than there is room for. */
async function findResults(
  runIds: readonly number[],
  room: number,
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
    if (bytes > room) return null
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

/** What a worker sends as a result need not be JSON; then it is a text. */
function asJson(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}
