import { formatDuration } from '../../core/text/duration.ts'
import type { StepIdentity, StepCounts } from '../../core/wire/workflow-view.ts'
import { publicId } from '../../core/ids.ts'
import { jobGateKey } from '../../core/workflow/reading/gates.ts'
import type { GateRecord, RunRecord } from '../../store/port.ts'
import type { Reason } from './why-run.ts'
import type { WorkflowStatus } from '../workflows/views/workflow-reader.ts'

/** Why that step makes no progress. */
export interface BlockedStepReason extends Reason {
  readonly step: string
}

/** What a workflow is doing; null if the reason is one that any run can have. */
export function whyWorkflow(
  run: RunRecord,
  {
    workflow,
    blockedStep,
    now,
  }: { workflow: WorkflowStatus; blockedStep: BlockedStepReason | null; now: number },
): Reason | null {
  const id = publicId('run', run.id)
  const details = countsOf(workflow.steps)
  switch (run.state) {
    case 'running': {
      const ran = formatDuration(Math.max(0, now - (run.startedAt ?? now)))
      const since = `It has been running for ${ran}`
      if (blockedStep && !run.cancelling)
        return describeBlockedStep(id, since, blockedStep, details)
      return { ...describeProgress(id, since, run, workflow), details }
    }
    case 'failed':
    case 'cancelled': {
      const said = run.message === null ? '' : `: ${run.message}`
      const sentence = run.state === 'failed' ? `It failed${said}.` : 'It was cancelled.'
      const fixes = [`punctual steps ${id}`, `punctual retry ${id} --failed`]
      return { code: run.state, sentence, details, fixes }
    }
    default:
      return null
  }
}

function describeProgress(
  id: string,
  since: string,
  { cancelling }: RunRecord,
  { steps, waiting, running }: WorkflowStatus,
): Reason {
  const hint = `punctual steps ${id}`
  if (cancelling) {
    return { code: 'stopping', sentence: `${since}. It is being stopped.`, fixes: [hint] }
  }
  const [first] = waiting
  if (first) {
    const sentence = `${since}: ${first.sentence.replace(/^It/, first.name)}`
    return { code: 'approval', sentence, fixes: [`punctual approve ${id} ${first.name}`, hint] }
  }
  const over = steps.total - steps.untouched - steps.running - steps.waiting
  const names = running.join(', ')
  const what = running.length === 0 ? 'its next step is about to start' : `at ${names}`
  const sentence = `${since}: ${what}; ${over} of ${steps.total} steps are over.`
  return { code: 'running', sentence, fixes: [hint] }
}

/** The reason that blocks its step is the reason that blocks the workflow. */
function describeBlockedStep(
  id: string,
  since: string,
  { step, code, sentence, details = [], fixes = [] }: BlockedStepReason,
  counts: readonly string[],
): Reason {
  const what = sentence.startsWith('It ') ? step + sentence.slice(2) : `${step}: ${sentence}`
  return {
    code,
    sentence: `${since}: ${what}`,
    details: [...details, ...counts],
    fixes: [...fixes, `punctual steps ${id}`],
  }
}

function countsOf({ failed, skipped, cancelled }: StepCounts): string[] {
  const words = Object.entries({ failed, cancelled, skipped }).flatMap(([state, count]) =>
    count === 0 ? [] : [`${count} ${state}`],
  )
  return words.length === 0 ? [] : [`Steps: ${words.join(', ')}.`]
}

/** Explains the gate that allows one wave at a time; users need not know that it is a gate. */
export function whyNextWave(
  gate: GateRecord | null | undefined,
  workflow: WorkflowStatus | null,
  waited: string,
): Reason | null {
  if (!gate || !workflow || gate.capacity !== 1 || gate.name !== jobGateKey(workflow.job))
    return null
  const [before] = gate.heldBy.map((runId) => publicId('run', runId))
  if (before === undefined) return null
  return {
    code: 'wave',
    sentence: `It has waited ${waited} for ${before} to end: ${workflow.job} runs one wave at a time.`,
    fixes: [`punctual why ${before}`, `punctual cancel ${before}`],
  }
}

/** Names the workflow step that a run belongs to. */
export function describeStepOwner(step: StepIdentity | null): string[] {
  if (!step) return []
  const item = step.item === null ? '' : `, item ${step.item}`
  return [`It is the step ${step.name}${item} of ${step.run}.`]
}
