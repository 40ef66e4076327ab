import { stepStateOf } from '../../../src/core/run/step-state.ts'
import { parsePublicId } from '../../../src/core/ids.ts'
import { stateOfCode } from '../../../src/core/run/run-state.ts'
import {
  isInTime,
  placeOf,
  possibleStops,
  rightEnds,
  wrongFates,
} from '../../workflows/expected-outcomes.ts'
import type { StepWork } from './draw-workflow.ts'
import type { FlowBook, FlowStory } from './workflow-tracker.ts'
import type { FlowTruth, Start } from './workflow-truth.ts'
import type { StepSeen } from './watch-workflows.ts'
import { mayGoAgain } from '../../workflows/naive-retry.ts'

/** What holds for each flow by itself: the order of its steps (I19), and that they join once (I20). */
export interface FlowLaws {
  /** Something was written down about a step. */
  told(seen: StepSeen): void
  started(start: Start, work: StepWork): void
  ended(story: FlowStory, now: number): void
}

export function createFlowLaws(
  book: FlowBook,
  truth: FlowTruth,
  violate: (law: string, detail: string) => void,
): FlowLaws {
  const startedRuns = new Set<number>()
  const activations = new Map<string, number>()

  /** One place has one run in one flow, whoever says so. */
  const activate = (flowId: number, place: string, runId: number) => {
    const key = `step ${place} of flow ${flowId}`
    const before = activations.get(key) ?? runId
    activations.set(key, before)
    if (before !== runId) violate('I20 a step began twice', `${key}: runs ${before} and ${runId}`)
  }

  const checkInTime = ({ flowId, drawn, facts }: FlowStory, place: string) => {
    if (isInTime(drawn.steps, facts, place)) return
    violate('I19 a step started before its time', `step ${place} of flow ${flowId}`)
  }

  const checkAgain = (story: FlowStory, { step, item }: StepWork) => {
    const old = story.names && story.retryOf !== null ? book.all.get(story.retryOf) : undefined
    if (!old || !story.names) return
    const { failed = false, from = [], skip = [] } = story.names
    const places = (names: readonly string[]) => new Set(names.map((name) => Number(name.slice(1))))
    const { steps } = story.drawn
    const wish = { steps, facts: old.facts, failed, from: places(from), skip: places(skip) }
    if (mayGoAgain(wish, step, item)) return
    const detail = `step ${placeOf(step, item)} of flow ${story.flowId}, which repeats ${old.flowId}`
    violate('a step that was to be kept ran again', detail)
  }

  return {
    told({ flow_id: flowId, step, item, state: code, run_id: runId, reason, count }) {
      const story = book.all.get(flowId)
      if (!story) return violate('a step of no flow', `step ${step} of ${flowId}`)
      const place = placeOf(step, item)
      const state = stepStateOf(code)
      story.facts.set(place, { step, item, state, reason: reason as never, count })
      if (runId === null) return
      story.runs.set(place, runId)
      activate(flowId, place, runId)
      if (state === 'succeeded' && startedRuns.has(runId) && !truth.done.has(runId)) {
        violate('I19 a step succeeded that nobody has done', `step ${place} of flow ${flowId}`)
      }
      if (story.isEnded) violate('I20 a step changed after its flow ended', `${place} of ${flowId}`)
    },

    started({ runId, meets }, work) {
      startedRuns.add(runId)
      const { step, item } = work
      const place = placeOf(step, item)
      const flowId = parsePublicId('run', work.flow) as number
      const story = book.all.get(flowId)
      if (!story) return violate('a step of no flow started', `${place} of ${flowId}`)
      activate(flowId, place, runId)
      checkInTime(story, place)
      checkAgain(story, work)
      if (story.isEnded) violate('I20 a step started after its end', `${place} of flow ${flowId}`)
      for (const other of meets) checkMeeting(story, other)
    },

    ended(story, now) {
      const { flowId, drawn, facts } = story
      const { status, cause, isCancelling, deadline } = book.ask(flowId)
      const end = `end ${stateOfCode(status)} ${cause ?? ''}`.trim()
      const befell = { isCancelled: isCancelling === 1, isLate: (deadline ?? Infinity) <= now }
      const right = rightEnds(drawn.steps, facts, possibleStops(facts, befell))
      if (!right.includes(end)) {
        const detail = `flow ${flowId}: ${end}, not ${right.join(' or ')}`
        violate('I20 a flow ends when all of it has', detail)
      }
      for (const wrong of wrongFates(drawn.steps, facts)) {
        violate('I20 skipped is what cannot start, and nothing else', `${wrong}, of flow ${flowId}`)
      }
    },
  }

  function checkMeeting({ flowId, drawn }: FlowStory, { flow, step }: StepWork): void {
    const other = book.all.get(parsePublicId('run', flow) as number)
    if (!drawn.isGated || !other || other.flowId === flowId || other.drawn !== drawn) return
    const detail = `${drawn.name}: a step of flow ${flowId} met step ${step} of flow ${other.flowId}`
    violate('waves overlap', detail)
  }
}
