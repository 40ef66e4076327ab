import { isSettled } from '../../../core/workflow/progress/step-facts.ts'
import type {
  WireApproval,
  WireStep,
  WireStepItem,
} from '../../../core/workflow/views/step-views.ts'
import type { StepCounts } from '../../../core/wire/workflow-view.ts'
import {
  type NamedStepState,
  describeStepState,
  type NamedSkipExplanation,
  type StepSituation,
} from '../../../core/workflow/views/describe-step.ts'
import type { ItemCounts } from '../../../core/workflow/progress/fan-out.ts'
import { explainSkip } from '../../../core/workflow/views/explain-skip.ts'
import { formatTime } from '../../../core/wire/runs.ts'
import type { Approval, Step } from '../../../core/workflow/workflow.ts'
import type { CompiledWorkflow } from '../compiled-workflow-cache.ts'
import type { StepRunViews } from './find-step-runs.ts'
import type { WorkflowFacts, StepSnapshot } from './read-step-facts.ts'
import { planStep } from './plan-step.ts'
import { outputOf } from './show-output.ts'

/** A workflow as read for one request. */
export interface WorkflowSnapshot {
  readonly compiled: CompiledWorkflow
  readonly facts: WorkflowFacts
  readonly progress: StepSituation['workflow']
}

export function showStep(seen: WorkflowSnapshot, step: number, runs: StepRunViews): WireStep {
  const { compiled, facts } = seen
  const whole = facts.wholeOf(step)
  const counts = facts.itemsOf(step)
  const items = counts && withTotal(counts)
  const { does } = compiled.workflow.steps[step] as Step
  const approval = does.kind === 'approve' ? does.approval : null
  const story = storyOf(seen, step, items, approval)
  const runId = whole?.runId ?? null
  return {
    ...planStep(compiled, step),
    state: whole?.state ?? 'untouched',
    reason: whole?.reason ?? null,
    sentence: describeStepState(story),
    run: runs.show(runId),
    reused: runs.isReused(runId),
    started_at: timeOf(whole?.startedAt ?? null),
    finished_at: timeOf(whole?.finishedAt ?? null),
    critical: facts.isCritical(step),
    items: items && {
      counts: items,
      failed: facts.failedOf(step).map((item) => showItem(item, seen.progress, runs)),
    },
    ...outputOf(whole, runs),
    approval: approval && whole?.state === 'waiting' ? showApproval(approval, whole) : null,
  }
}

export function showItem(
  fact: StepSnapshot,
  workflow: StepSituation['workflow'],
  runs: StepRunViews,
): WireStepItem {
  const { item, state, reason, message, runId, startedAt, finishedAt } = fact
  const story = {
    waitsFor: [],
    mayWaitForMore: false,
    because: null,
    by: [],
    items: null,
    workflow,
  }
  return {
    item,
    state,
    reason,
    run: runs.show(runId),
    reused: runs.isReused(runId),
    sentence: describeStepState({ ...story, state, reason, message }),
    started_at: timeOf(startedAt),
    finished_at: timeOf(finishedAt),
  }
}

function storyOf(
  seen: WorkflowSnapshot,
  step: number,
  items: StepCounts | null,
  approval: Approval | null,
): StepSituation {
  const whole = seen.facts.wholeOf(step)
  const state = whole?.state ?? 'untouched'
  const reason = whole?.reason ?? null
  return {
    state,
    reason,
    items,
    message: whole?.message ?? null,
    workflow: seen.progress,
    by: approval?.by ?? [],
    ...(state === 'untouched' ? openNeeds(seen, step) : { waitsFor: [], mayWaitForMore: false }),
    because: state === 'skipped' && reason === 'needs' ? skipWords(seen, step) : null,
  }
}

/**
 * Names of the steps it waits for; a `finally` step without needs waits for all unfinished steps.
 */
function openNeeds(
  { compiled, facts }: WorkflowSnapshot,
  step: number,
): Pick<StepSituation, 'waitsFor' | 'mayWaitForMore'> {
  const { graph, workflow } = compiled
  const own = graph.needs.of(step)
  const isAboutAll = graph.isFinally(step) && own.length === 0
  const asked = isAboutAll ? graph.order.filter((other) => !graph.isFinally(other)) : own
  const seen = asked.filter(facts.wasLookedAt)
  const open = seen.filter((need) => {
    const whole = facts.wholeOf(need)
    return !whole || !isSettled(whole.state)
  })
  return {
    waitsFor: Array.from(open, (need) => (workflow.steps[need] as Step).name),
    mayWaitForMore: seen.length < asked.length,
  }
}

function skipWords({ compiled, facts }: WorkflowSnapshot, step: number): NamedSkipExplanation {
  const { when, needs, origins } = explainSkip(compiled.graph, facts.wholeOf, step)
  const named = (place: number): NamedStepState => ({
    name: (compiled.workflow.steps[place] as Step).name,
    state: facts.wholeOf(place)?.state ?? 'untouched',
  })
  return { when, needs: needs.map(named), origins: origins.map(named) }
}

function showApproval(
  { by, parameters }: Approval,
  { message, dueAt }: StepSnapshot,
): WireApproval {
  const input = parameters.map(({ name, default: _, isRequired, ...fields }) => [
    name,
    { ...fields, required: isRequired },
  ])
  return { message, by, expires_at: timeOf(dueAt), input: Object.fromEntries(input) }
}

function withTotal(counts: ItemCounts): StepCounts {
  return { total: Object.values(counts).reduce((sum, some) => sum + some, 0), ...counts }
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : formatTime(ms, 'at')
}
