import { isLasting, PunctualError } from '../../core/errors.ts'
import { fill } from '../../core/expression/fill-template.ts'
import { expressionsIn } from '../../core/expression/references.ts'
import type { Decision } from '../../core/workflow/progress/decision.ts'
import { LIMITS } from '../../core/limits.ts'
import type { WorkflowOutcome, WorkflowStore } from '../../store/port.ts'
import type { Payloads } from '../payloads/payloads.ts'
import { scopeOf } from './begin-step.ts'
import type { LoadedWorkflow } from './loaded-workflow.ts'
import { readOutputs, tooMuch } from './step-outputs.ts'

export interface EndWorkflowDeps {
  readonly store: Pick<WorkflowStore, 'resultsOf'>
  readonly payloads: Payloads
}

/** The end of a workflow, and a callback for after it is written. */
export interface PreparedEnd {
  readonly end: WorkflowOutcome
  readonly settle?: () => Promise<void>
}

/**
 * Ends a workflow. A successful one returns the result its definition names; if that has no value,
 * the workflow has failed.
 */
export async function endWorkflow(
  loaded: LoadedWorkflow,
  { state, cause }: Extract<Decision, { to: 'end' }>,
  deps: EndWorkflowDeps,
): Promise<PreparedEnd> {
  const message = state === 'failed' ? describeFailure(loaded, cause) : null
  const end = { state, cause, message, result: null }
  if (state !== 'succeeded' || loaded.compiled.workflow.output === null) return { end }
  try {
    const result = await outputOf(loaded, deps)
    if (!deps.payloads.isLarge(result)) return { end: { ...end, result } }
    const kept = await deps.payloads.keep(loaded.record.runId, 'result', result)
    return { end: { ...end, result: kept.text }, settle: kept.settle }
  } catch (error) {
    if (!isLasting(error)) throw error
    return { end: { ...end, state: 'failed', cause: 'error', message: error.message } }
  }
}

async function outputOf(loaded: LoadedWorkflow, deps: EndWorkflowDeps): Promise<string> {
  const { workflow, indexOf } = loaded.compiled
  const output = workflow.output as NonNullable<typeof workflow.output>
  const named = new Set(expressionsIn(output).flatMap(({ steps }) => steps))
  const steps = [...named].map((name) => indexOf.get(name) as number)
  const outputs = await readOutputs(loaded, steps, deps)
  if (!outputs) throw tooMuch()
  const text = JSON.stringify(fill(output, scopeOf(loaded, outputs)))
  if (Buffer.byteLength(text) <= LIMITS.resultBytes) return text
  const message = `output: it has more than ${LIMITS.resultBytes} bytes`
  throw new PunctualError('invalid_field', message, { field: 'output' })
}

const MOST_NAMED = 5

function describeFailure(
  { compiled, runs }: LoadedWorkflow,
  cause: WorkflowOutcome['cause'],
): string {
  const failed = compiled.workflow.steps.flatMap(({ name, mayFail }, step) => {
    const state = runs.stateOf(step)
    return !mayFail && (state === 'failed' || state === 'cancelled') ? [name] : []
  })
  if (cause === 'timeout') return 'it ran out of time'
  const named = failed.slice(0, MOST_NAMED).join(', ')
  const others = failed.length - MOST_NAMED
  return `${named}${others > 0 ? ` and ${others} others` : ''} failed`
}
