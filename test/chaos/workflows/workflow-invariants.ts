import type { StepFact } from '../../../src/core/workflow/step-facts.ts'
import {
  isInTime,
  placeOf,
  possibleStops,
  rightEnds,
  wrongFates,
} from '../../workflows/expected-outcomes.ts'
import { mayGoAgain } from '../../workflows/naive-retry.ts'
import type { Dump, DumpedRun } from '../history.ts'
import { endingLaws } from '../invariants/run-end-invariants.ts'
import { describeViolation } from '../violation.ts'
import type { ToldWorkflow } from './draw-definitions.ts'
import type { DumpedFlow, DumpedStep, FlowDump } from './workflow-dump.ts'
import { followerLaws, type Need } from './follower-invariants.ts'
import { lastEnds, type ToldLine } from './step-trace-lines.ts'
import { waveLaws } from './wave-invariants.ts'

/** What became of workflows, as their processes and the database at rest tell it. */
export interface WorkflowHistory extends FlowDump {
  readonly workflows: ReadonlyMap<string, Pick<ToldWorkflow, 'steps' | 'isGated'>>
  readonly lines: readonly ToldLine[]
  /** What each run was to start after. */
  readonly followers: ReadonlyMap<string, readonly Need[]>
  readonly dump: Dump
}

/** Every way in which a step was early, doubled, lost or stuck, or a wave met another. */
export function workflowLaws(history: WorkflowHistory): string[] {
  const stories = history.flows.map((flow) => storyOf(flow, history))
  return [
    ...activationLaws(history),
    ...orderLaws(stories, history),
    ...stories.flatMap((story) => endLaws(story, history)),
    ...repeatLaws(stories, history),
    ...waveLaws(history),
    ...followerLaws(history),
    ...endingLaws(history).map(describeViolation),
  ]
}

interface Story extends DumpedFlow {
  readonly steps: ToldWorkflow['steps']
  readonly facts: ReadonlyMap<string, StepFact>
}

function storyOf(flow: DumpedFlow, { workflows, steps }: WorkflowHistory): Story {
  const own = steps.filter((step) => step.flow === flow.flow)
  const facts = new Map(own.map((step) => [placeOf(step.step, step.item), factOf(step)]))
  return { ...flow, facts, steps: workflows.get(flow.job)?.steps ?? [] }
}

function factOf({ step, item, state, reason, count }: DumpedStep): StepFact {
  return { step, item, state: state as StepFact['state'], reason: reason as never, count }
}

/** One place of one flow is one run, whoever is asked. */
function activationLaws({ lines, steps }: WorkflowHistory): string[] {
  const runs = new Map<string, Set<string>>()
  const note = (flow: string, place: string, run: string) => {
    const key = `step ${place} of ${flow}`
    runs.set(key, (runs.get(key) ?? new Set()).add(run))
  }
  for (const { run, place } of lines) {
    if (place) note(place.flow, placeOf(place.step, place.item), run)
  }
  for (const { flow, step, item, run } of steps) if (run) note(flow, placeOf(step, item), run)
  return [...runs]
    .filter(([, own]) => own.size > 1)
    .map(([key, own]) => `${key} began ${own.size} times: ${[...own].join(', ')}`)
}

/**
 * A step begins when its rule has come true by what has been seen to end. What ended without a process of its
 * own to say so, or with one that was killed, may have ended at any time before.
 */
function orderLaws(stories: readonly Story[], { lines, steps, dump }: WorkflowHistory): string[] {
  const byFlow = new Map(stories.map((story) => [story.flow, story]))
  const states = new Map(dump.runs.map((run) => [run.run, run]))
  const ended = lastEnds(lines)
  const runsOf = Map.groupBy(steps, ({ flow }) => flow)
  return lines.flatMap(({ what, run, attempt, place }, at) => {
    if (what !== 'begin' || attempt > 1 || !place) return []
    const story = byFlow.get(place.flow)
    if (!story) return [`${run} began for ${place.flow}, which is no flow`]
    const own = placeOf(place.step, place.item)
    const facts = new Map(story.facts)
    for (const step of runsOf.get(story.flow) ?? []) {
      if (!isToldLater(states.get(step.run ?? ''), at, ended)) continue
      const where = placeOf(step.step, step.item)
      facts.set(where, { ...factOf(step), state: 'running', reason: null })
    }
    if (place.item >= 0) reopen(facts, place.step)
    for (const { step, item, state } of [...facts.values()]) {
      if (item >= 0 && state === 'running') reopen(facts, step)
    }
    return isInTime(story.steps, facts, own) ? [] : [`step ${own} of ${story.flow} began early`]
  })
}

/** A fan-out of which an item is open is open itself. */
function reopen(facts: Map<string, StepFact>, step: number): void {
  const whole = facts.get(`${step}`)
  if (whole) facts.set(`${step}`, { ...whole, state: 'running', reason: null })
}

/** Whether the process that decided how a run ended had not ended yet. */
function isToldLater(
  run: DumpedRun | undefined,
  at: number,
  ended: ReadonlyMap<string, number>,
): boolean {
  const isByProcess = run?.state === 'succeeded' || run?.cause === 'exit'
  return isByProcess && (ended.get(run.run) ?? -1) > at
}

function endLaws({ flow, steps, facts, isCancelled }: Story, { dump }: WorkflowHistory): string[] {
  const run = dump.runs.find((one) => one.run === flow)
  const end = `end ${run?.state} ${run?.cause ?? ''}`.trim()
  const right = rightEnds(steps, facts, possibleStops(facts, { isCancelled, isLate: false }))
  return [
    ...(right.includes(end) ? [] : [`${flow}: ${end}, not ${right.join(' or ')}`]),
    ...wrongFates(steps, facts).map((wrong) => `${flow}: ${wrong}`),
  ]
}

/** What was done in a flow is not done again by one that repeats what failed of it. */
function repeatLaws(stories: readonly Story[], { lines }: WorkflowHistory): string[] {
  const byFlow = new Map(stories.map((story) => [story.flow, story]))
  return lines.flatMap(({ what, place }) => {
    if (what !== 'begin' || !place) return []
    const story = byFlow.get(place.flow)
    if (!story?.isOfFailed || story.retryOf === null) return []
    const old = byFlow.get(story.retryOf)
    if (!old) return []
    const wish = { ...old, failed: true, from: NONE, skip: NONE }
    const item = place.item < 0 ? null : place.item
    if (mayGoAgain(wish, place.step, item)) return []
    return [`step ${placeOf(place.step, item)} of ${story.flow} was done in ${old.flow} already`]
  })
}

const NONE: ReadonlySet<number> = new Set()
