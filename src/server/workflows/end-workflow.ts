import { isLasting, PunctualError } from '../../core/errors.ts'
import { fill } from '../../core/expression/fill-template.ts'
import { expressionsIn } from '../../core/expression/references.ts'
import type { Decision } from '../../core/workflow/decision.ts'
import { LIMITS } from '../../core/limits.ts'
import type { FlowEnd, FlowStore } from '../../store/port.ts'
import type { Payloads } from '../payloads/payloads.ts'
import { scopeOf } from './begin-step.ts'
import type { HeldFlow } from './loaded-workflow.ts'
import { readOutputs, tooMuch } from './step-outputs.ts'

export interface EndDeps {
  readonly store: Pick<FlowStore, 'resultsOf'>
  readonly payloads: Payloads
}

/** The end of a flow, and what is to be called once it is written. */
export interface Ending {
  readonly end: FlowEnd
  readonly settle?: () => Promise<void>
}

/** How a flow ends. One that ends well gives what its definition says; where that has no value, it has failed. */
export async function endFlow(
  held: HeldFlow,
  { state, cause }: Extract<Decision, { to: 'end' }>,
  deps: EndDeps,
): Promise<Ending> {
  const message = state === 'failed' ? whatFailed(held, cause) : null
  const end = { state, cause, message, result: null }
  if (state !== 'succeeded' || held.compiled.workflow.output === null) return { end }
  try {
    const result = await outputOf(held, deps)
    if (!deps.payloads.isLarge(result)) return { end: { ...end, result } }
    const kept = await deps.payloads.keep(held.record.runId, 'result', result)
    return { end: { ...end, result: kept.text }, settle: kept.settle }
  } catch (error) {
    if (!isLasting(error)) throw error
    return { end: { ...end, state: 'failed', cause: 'error', message: error.message } }
  }
}

async function outputOf(held: HeldFlow, deps: EndDeps): Promise<string> {
  const { workflow, indexOf } = held.compiled
  const output = workflow.output as NonNullable<typeof workflow.output>
  const named = new Set(expressionsIn(output).flatMap(({ steps }) => steps))
  const steps = [...named].map((name) => indexOf.get(name) as number)
  const outputs = await readOutputs(held, steps, deps)
  if (!outputs) throw tooMuch()
  const text = JSON.stringify(fill(output, scopeOf(held, outputs)))
  if (Buffer.byteLength(text) <= LIMITS.resultBytes) return text
  const message = `output: it has more than ${LIMITS.resultBytes} bytes`
  throw new PunctualError('invalid_field', message, { field: 'output' })
}

const MOST_NAMED = 5

function whatFailed({ compiled, runs }: HeldFlow, cause: FlowEnd['cause']): string {
  const failed = compiled.workflow.steps.flatMap(({ name, mayFail }, step) => {
    const state = runs.stateOf(step)
    return !mayFail && (state === 'failed' || state === 'cancelled') ? [name] : []
  })
  if (cause === 'timeout') return 'it ran out of time'
  const named = failed.slice(0, MOST_NAMED).join(', ')
  const others = failed.length - MOST_NAMED
  return `${named}${others > 0 ? ` and ${others} others` : ''} failed`
}
