import { stepStateOf } from '../../../src/core/run/step-state.ts'
import { parsePublicId } from '../../../src/core/ids.ts'
import { stateOfCode } from '../../../src/core/run/run-state.ts'
import {
  isStartAllowed,
  placeOf,
  possibleStops,
  allowedEnds,
  wrongOutcomes,
} from '../../workflows/expected-outcomes.ts'
import type { DrawnStepInput } from './draw-workflow.ts'
import type { WorkflowTracker, TrackedWorkflow } from './workflow-tracker.ts'
import type { WorkflowTruth, ObservedStart } from './workflow-truth.ts'
import type { StepSeen } from './watch-workflows.ts'
import { mayRunAgain } from '../../workflows/naive-retry.ts'

/** Invariants of a single workflow: the order of its steps (I19), and that each step starts once (I20). */
export interface StepInvariants {
  /** The store wrote a step. */
  stepChanged(seen: StepSeen): void
  started(start: ObservedStart, work: DrawnStepInput): void
  ended(tracked: TrackedWorkflow, now: number): void
}

export function createStepInvariants(
  tracker: WorkflowTracker,
  truth: WorkflowTruth,
  violate: (invariant: string, detail: string) => void,
): StepInvariants {
  const startedRuns = new Set<number>()
  const activations = new Map<string, number>()

  /** Each place of a workflow has exactly one run, in the rows and in the workers. */
  const activate = (workflowId: number, place: string, runId: number) => {
    const key = `step ${place} of workflow ${workflowId}`
    const before = activations.get(key) ?? runId
    activations.set(key, before)
    if (before !== runId) violate('I20 a step began twice', `${key}: runs ${before} and ${runId}`)
  }

  const checkInTime = ({ workflowId, drawn, facts }: TrackedWorkflow, place: string) => {
    if (isStartAllowed(drawn.steps, facts, place)) return
    violate('I19 a step started before its time', `step ${place} of workflow ${workflowId}`)
  }

  const checkAgain = (tracked: TrackedWorkflow, { step, item }: DrawnStepInput) => {
    const old =
      tracked.names && tracked.retryOf !== null ? tracker.all.get(tracked.retryOf) : undefined
    if (!old || !tracked.names) return
    const { failed = false, from = [], skip = [] } = tracked.names
    const places = (names: readonly string[]) => new Set(names.map((name) => Number(name.slice(1))))
    const { steps } = tracked.drawn
    const retried = { steps, facts: old.facts, failed, from: places(from), skip: places(skip) }
    if (mayRunAgain(retried, step, item)) return
    const detail = `step ${placeOf(step, item)} of workflow ${tracked.workflowId}, which repeats ${old.workflowId}`
    violate('a step that was to be kept ran again', detail)
  }

  return {
    stepChanged({ flow_id: workflowId, step, item, state: code, run_id: runId, reason, count }) {
      const tracked = tracker.all.get(workflowId)
      if (!tracked) return violate('a step of no workflow', `step ${step} of ${workflowId}`)
      const place = placeOf(step, item)
      const state = stepStateOf(code)
      tracked.facts.set(place, { step, item, state, reason: reason as never, count })
      if (runId === null) return
      tracked.runs.set(place, runId)
      activate(workflowId, place, runId)
      if (state === 'succeeded' && startedRuns.has(runId) && !truth.done.has(runId)) {
        violate(
          'I19 a step succeeded without an execution',
          `step ${place} of workflow ${workflowId}`,
        )
      }
      if (tracked.isEnded)
        violate('I20 a step changed after its workflow ended', `${place} of ${workflowId}`)
    },

    started({ runId, meets }, work) {
      startedRuns.add(runId)
      const { step, item } = work
      const place = placeOf(step, item)
      const workflowId = parsePublicId('run', work.workflow) as number
      const tracked = tracker.all.get(workflowId)
      if (!tracked) return violate('a step of no workflow started', `${place} of ${workflowId}`)
      activate(workflowId, place, runId)
      checkInTime(tracked, place)
      checkAgain(tracked, work)
      if (tracked.isEnded)
        violate('I20 a step started after its end', `${place} of workflow ${workflowId}`)
      for (const other of meets) checkMeeting(tracked, other)
    },

    ended(tracked, now) {
      const { workflowId, drawn, facts } = tracked
      const { status, cause, isCancelling, deadline } = tracker.ask(workflowId)
      const end = `end ${stateOfCode(status)} ${cause ?? ''}`.trim()
      const circumstances = {
        isCancelled: isCancelling === 1,
        isLate: (deadline ?? Infinity) <= now,
      }
      const right = allowedEnds(drawn.steps, facts, possibleStops(facts, circumstances))
      if (!right.includes(end)) {
        const detail = `workflow ${workflowId}: ${end}, not ${right.join(' or ')}`
        violate('I20 a workflow ends when all of it has', detail)
      }
      for (const wrong of wrongOutcomes(drawn.steps, facts)) {
        violate(
          'I20 skipped is what cannot start, and nothing else',
          `${wrong}, of workflow ${workflowId}`,
        )
      }
    },
  }

  function checkMeeting(
    { workflowId, drawn }: TrackedWorkflow,
    { workflow, step }: DrawnStepInput,
  ): void {
    const other = tracker.all.get(parsePublicId('run', workflow) as number)
    if (!drawn.isGated || !other || other.workflowId === workflowId || other.drawn !== drawn) return
    const detail = `${drawn.name}: a step of workflow ${workflowId} met step ${step} of workflow ${other.workflowId}`
    violate('waves overlap', detail)
  }
}
