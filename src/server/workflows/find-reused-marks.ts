import { planRetry, type RetryScope } from '../../core/workflow/progress/plan-retry.ts'
import { type StepReason, WHOLE_STEP } from '../../core/workflow/progress/step-facts.ts'
import type { NamedRetryScope } from '../../core/work/workflow-work.ts'
import type {
  WorkflowRecord,
  WorkflowStore,
  StepKey,
  StepMark,
  StepRecord,
} from '../../store/port.ts'
import { EMPTY_MARK } from './loaded-workflow.ts'
import { readSteps } from './read-steps.ts'
import type { CompiledWorkflow } from './compiled-workflow-cache.ts'
import { readWorkflowWork } from './workflow-work.ts'

/**
 * Step states that a repeated workflow reuses from the original and has not written as its own. The
 * original has ended and does not change, so every node finds the same rest, whatever was written
 * before.
 */
export async function findReusedMarks(
  { retryOf, work }: WorkflowRecord,
  own: readonly StepKey[],
  { graph, indexOf }: CompiledWorkflow,
  store: Pick<WorkflowStore, 'workflowSteps'>,
): Promise<StepMark[]> {
  const { retry } = readWorkflowWork(work)
  if (retryOf === null || !retry) return []
  const reuse = requestedReuse(retry, indexOf)
  const old = await readSteps(store, retryOf)
  const facts = old.map((step) => ({ ...step, reason: step.reason as StepReason | null }))
  const known = new Set(own.map(placeOf))
  const kept = planRetry(graph, facts, reuse).kept.map(asMark)
  const skipped = (reuse.skip ?? []).map((step): StepMark => ({
    ...EMPTY_MARK,
    step,
    item: WHOLE_STEP,
    state: 'skipped',
    reason: 'operator',
  }))
  return [...kept, ...skipped]
    .filter((mark) => !known.has(placeOf(mark)))
    .toSorted((a, b) => a.step - b.step || a.item - b.item)
}

function requestedReuse(
  { failed, from = [], skip = [] }: NamedRetryScope,
  indexOf: CompiledWorkflow['indexOf'],
): RetryScope {
  const places = (names: readonly string[]) =>
    names.map((name) => indexOf.get(name)).filter((step) => step !== undefined)
  return { failed, from: places(from), skip: places(skip) }
}

function asMark({
  step,
  item,
  state,
  runId,
  reason,
  message,
  count,
  detail,
}: StepRecord): StepMark {
  return { step, item, state, runId, reason, message, count, detail, dueAt: null }
}

function placeOf({ step, item }: StepKey): string {
  return `${step}.${item}`
}
