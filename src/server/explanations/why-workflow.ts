import { formatDuration } from '../../core/text/duration.ts'
import type { StepCounts, StepPlace } from '../../core/workflow/step-views.ts'
import { publicId } from '../../core/ids.ts'
import { ownGate } from '../../core/workflow/gates.ts'
import type { GateRecord, RunRecord } from '../../store/port.ts'
import type { Because } from './why-run.ts'

/** How a workflow stands, as far as it matters to somebody who asks why. */
export interface FlowStanding {
  readonly job: string
  readonly steps: StepCounts
  /** The first steps that wait for somebody, with the sentence of each. */
  readonly waiting: readonly { readonly name: string; readonly sentence: string }[]
  /** The first that are under way. */
  readonly running: readonly string[]
  /** The run of such a step that waits, if nothing that was looked at does anything. */
  readonly heldUp: { readonly step: string; readonly run: RunRecord } | null
}

/** Why that is. */
export interface HeldUp extends Because {
  readonly step: string
}

/** What a workflow is doing; null for what any run could say. */
export function whyFlow(
  run: RunRecord,
  { flow, heldUp, now }: { flow: FlowStanding; heldUp: HeldUp | null; now: number },
): Because | null {
  const id = publicId('run', run.id)
  const details = countsOf(flow.steps)
  switch (run.state) {
    case 'running': {
      const ran = formatDuration(Math.max(0, now - (run.startedAt ?? now)))
      const since = `It has been running for ${ran}`
      if (heldUp && !run.cancelling) return whatIsHeldUp(id, since, heldUp, details)
      return { ...whatIsDone(id, since, run, flow), details }
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

function whatIsDone(
  id: string,
  since: string,
  { cancelling }: RunRecord,
  { steps, waiting, running }: FlowStanding,
): Because {
  const look = `punctual steps ${id}`
  if (cancelling) {
    return { code: 'stopping', sentence: `${since}. It was told to stop.`, fixes: [look] }
  }
  const [first] = waiting
  if (first) {
    const sentence = `${since}: ${first.sentence.replace(/^It/, first.name)}`
    return { code: 'approval', sentence, fixes: [`punctual approve ${id} ${first.name}`, look] }
  }
  const over = steps.total - steps.untouched - steps.running - steps.waiting
  const names = running.join(', ')
  const what = running.length === 0 ? 'its next step is about to start' : `at ${names}`
  const sentence = `${since}: ${what}; ${over} of ${steps.total} steps are over.`
  return { code: 'running', sentence, fixes: [look] }
}

/** What holds up its step holds up the workflow. */
function whatIsHeldUp(
  id: string,
  since: string,
  { step, code, sentence, details = [], fixes = [] }: HeldUp,
  counts: readonly string[],
): Because {
  const what = sentence.startsWith('It ') ? step + sentence.slice(2) : `${step}: ${sentence}`
  return {
    ...{ code, sentence: `${since}: ${what}` },
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

/** One wave at a time, which nobody has to know as the gate it is. */
export function whyNextWave(
  gate: GateRecord | null | undefined,
  flow: FlowStanding | null,
  waited: string,
): Because | null {
  if (!gate || !flow || gate.capacity !== 1 || gate.name !== ownGate(flow.job)) return null
  const [before] = gate.heldBy.map((runId) => publicId('run', runId))
  if (before === undefined) return null
  return {
    code: 'wave',
    sentence: `It has waited ${waited} for ${before} to end: ${flow.job} runs one wave at a time.`,
    fixes: [`punctual why ${before}`, `punctual cancel ${before}`],
  }
}

/** Whose step a run is. */
export function whoseStep(step: StepPlace | null): string[] {
  if (!step) return []
  const item = step.item === null ? '' : `, item ${step.item}`
  return [`It is the step ${step.name}${item} of ${step.run}.`]
}
