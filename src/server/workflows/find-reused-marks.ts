import { planRetry, type RetryWish } from '../../core/workflow/plan-retry.ts'
import { type StepReason, WHOLE } from '../../core/workflow/step-facts.ts'
import type { RetryNames } from '../../core/work/workflow-work.ts'
import type { FlowRecord, FlowStore, StepKey, StepMark, StepRecord } from '../../store/port.ts'
import { readFlowWork } from '../runs/retries/scheduled-time.ts'
import { PLAIN } from './loaded-workflow.ts'
import { readSteps } from './read-steps.ts'
import type { Compiled } from './compiled-workflow-cache.ts'

/**
 * What a flow that repeats another takes over from it and has not written down as its own yet. The
 * other one is over and does not change, so whoever asks, and however far somebody came before, gets
 * the rest of the same.
 */
export async function findTakenOver(
  { retryOf, work }: FlowRecord,
  own: readonly StepKey[],
  { graph, indexOf }: Compiled,
  store: Pick<FlowStore, 'flowSteps'>,
): Promise<StepMark[]> {
  const { retry } = readFlowWork(work)
  if (retryOf === null || !retry) return []
  const wish = wishOf(retry, indexOf)
  const old = await readSteps(store, retryOf)
  const facts = old.map((step) => ({ ...step, reason: step.reason as StepReason | null }))
  const known = new Set(own.map(placeOf))
  const kept = planRetry(graph, facts, wish).kept.map(asMark)
  const skipped = (wish.skip ?? []).map((step): StepMark => ({
    ...PLAIN,
    step,
    item: WHOLE,
    state: 'skipped',
    reason: 'operator',
  }))
  return [...kept, ...skipped]
    .filter((mark) => !known.has(placeOf(mark)))
    .toSorted((a, b) => a.step - b.step || a.item - b.item)
}

function wishOf(
  { failed, from = [], skip = [] }: RetryNames,
  indexOf: Compiled['indexOf'],
): RetryWish {
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
