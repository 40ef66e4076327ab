import type { StepFact } from '../../../src/core/workflow/progress/step-facts.ts'
import {
  isStartAllowed,
  placeOf,
  possibleStops,
  allowedEnds,
  wrongOutcomes,
} from '../../workflows/expected-outcomes.ts'
import { mayRunAgain } from '../../workflows/naive-retry.ts'
import type { Dump, DumpedRun } from '../history.ts'
import { runEndInvariants } from '../invariants/run-end-invariants.ts'
import { describeViolation } from '../violation.ts'
import type { TracedWorkflow } from './draw-definitions.ts'
import type { DumpedWorkflow, DumpedStep, WorkflowDump } from './workflow-dump.ts'
import { followerInvariants, type FollowerNeed } from './follower-invariants.ts'
import { lastEnds, type StepTraceLine } from './step-trace-lines.ts'
import { waveInvariants } from './wave-invariants.ts'

/** What happened to workflows, from the traces of their processes and the final database. */
export interface WorkflowHistory extends WorkflowDump {
  readonly workflows: ReadonlyMap<string, Pick<TracedWorkflow, 'steps' | 'isGated'>>
  readonly lines: readonly StepTraceLine[]
  /** The runs after which each follower was to start. */
  readonly followers: ReadonlyMap<string, readonly FollowerNeed[]>
  readonly dump: Dump
}

/** Every way in which a step was early, doubled, lost or stuck, or waves overlapped. */
export function workflowInvariants(history: WorkflowHistory): string[] {
  const stories = history.workflowRuns.map((workflow) => workflowFactsOf(workflow, history))
  return [
    ...activationInvariants(history),
    ...orderInvariants(stories, history),
    ...stories.flatMap((story) => workflowEndInvariants(story, history)),
    ...repeatInvariants(stories, history),
    ...waveInvariants(history),
    ...followerInvariants(history),
    ...runEndInvariants(history).map(describeViolation),
  ]
}

interface WorkflowFacts extends DumpedWorkflow {
  readonly steps: TracedWorkflow['steps']
  readonly facts: ReadonlyMap<string, StepFact>
}

function workflowFactsOf(
  workflow: DumpedWorkflow,
  { workflows, steps }: WorkflowHistory,
): WorkflowFacts {
  const own = steps.filter((step) => step.workflow === workflow.workflow)
  const facts = new Map(own.map((step) => [placeOf(step.step, step.item), factOf(step)]))
  return { ...workflow, facts, steps: workflows.get(workflow.job)?.steps ?? [] }
}

function factOf({ step, item, state, reason, count }: DumpedStep): StepFact {
  return { step, item, state: state as StepFact['state'], reason: reason as never, count }
}

/** One place of one workflow has one run, in the traces and in the database. */
function activationInvariants({ lines, steps }: WorkflowHistory): string[] {
  const runs = new Map<string, Set<string>>()
  const note = (workflow: string, place: string, run: string) => {
    const key = `step ${place} of ${workflow}`
    runs.set(key, (runs.get(key) ?? new Set()).add(run))
  }
  for (const { run, place } of lines) {
    if (place) note(place.workflow, placeOf(place.step, place.item), run)
  }
  for (const { workflow, step, item, run } of steps)
    if (run) note(workflow, placeOf(step, item), run)
  return [...runs]
    .filter(([, own]) => own.size > 1)
    .map(([key, own]) => `${key} began ${own.size} times: ${[...own].join(', ')}`)
}

/**
 * A step begins once its rule is true for the recorded ends. A step without a process, or with a killed one,
 * may have ended at any earlier time.
 */
function orderInvariants(
  stories: readonly WorkflowFacts[],
  { lines, steps, dump }: WorkflowHistory,
): string[] {
  const byWorkflow = new Map(stories.map((story) => [story.workflow, story]))
  const states = new Map(dump.runs.map((run) => [run.run, run]))
  const ended = lastEnds(lines)
  const runsOf = Map.groupBy(steps, ({ workflow }) => workflow)
  return lines.flatMap(({ what, run, attempt, place }, at) => {
    if (what !== 'begin' || attempt > 1 || !place) return []
    const story = byWorkflow.get(place.workflow)
    if (!story) return [`${run} began for ${place.workflow}, which is no workflow`]
    const own = placeOf(place.step, place.item)
    const facts = new Map(story.facts)
    for (const step of runsOf.get(story.workflow) ?? []) {
      if (!isRecordedLater(states.get(step.run ?? ''), at, ended)) continue
      const where = placeOf(step.step, step.item)
      facts.set(where, { ...factOf(step), state: 'running', reason: null })
    }
    if (place.item >= 0) reopen(facts, place.step)
    for (const { step, item, state } of [...facts.values()]) {
      if (item >= 0 && state === 'running') reopen(facts, step)
    }
    return isStartAllowed(story.steps, facts, own)
      ? []
      : [`step ${own} of ${story.workflow} began early`]
  })
}

/** A fan-out with an open item is open itself. */
function reopen(facts: Map<string, StepFact>, step: number): void {
  const whole = facts.get(`${step}`)
  if (whole) facts.set(`${step}`, { ...whole, state: 'running', reason: null })
}

/** Whether the process that decided the run's end wrote its end later than this line. */
function isRecordedLater(
  run: DumpedRun | undefined,
  at: number,
  ended: ReadonlyMap<string, number>,
): boolean {
  const isByProcess = run?.state === 'succeeded' || run?.cause === 'exit'
  return isByProcess && (ended.get(run.run) ?? -1) > at
}

function workflowEndInvariants(
  { workflow, steps, facts, isCancelled }: WorkflowFacts,
  { dump }: WorkflowHistory,
): string[] {
  const run = dump.runs.find((one) => one.run === workflow)
  const end = `end ${run?.state} ${run?.cause ?? ''}`.trim()
  const right = allowedEnds(steps, facts, possibleStops(facts, { isCancelled, isLate: false }))
  return [
    ...(right.includes(end) ? [] : [`${workflow}: ${end}, not ${right.join(' or ')}`]),
    ...wrongOutcomes(steps, facts).map((wrong) => `${workflow}: ${wrong}`),
  ]
}

/** A step that succeeded in a workflow does not run again in a retry of its failed steps. */
function repeatInvariants(stories: readonly WorkflowFacts[], { lines }: WorkflowHistory): string[] {
  const byWorkflow = new Map(stories.map((story) => [story.workflow, story]))
  return lines.flatMap(({ what, place }) => {
    if (what !== 'begin' || !place) return []
    const story = byWorkflow.get(place.workflow)
    if (!story?.isOfFailed || story.retryOf === null) return []
    const old = byWorkflow.get(story.retryOf)
    if (!old) return []
    const rules = { ...old, failed: true, from: NONE, skip: NONE }
    const item = place.item < 0 ? null : place.item
    if (mayRunAgain(rules, place.step, item)) return []
    return [
      `step ${placeOf(place.step, item)} of ${story.workflow} was done in ${old.workflow} already`,
    ]
  })
}

const NONE: ReadonlySet<number> = new Set()
