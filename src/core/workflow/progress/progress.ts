import type { FinalState } from '../../run/run-state.ts'
import type { Decision, WorkflowEnd, WorkflowStopReason } from './decision.ts'
import {
  isSettled,
  stepOutcomeOf,
  type StepFact,
  type StepReason,
  WHOLE_STEP,
} from './step-facts.ts'
import { createFanOut, type FanOut } from './fan-out.ts'
import type { Graph } from '../graph.ts'
import { createStepQueue, type StepQueue } from './step-queue.ts'
import { createNeedCounters, type NeedCounters } from './need-counters.ts'

const UNTOUCHED = 0
/** The start was decided, and its result has not been reported. */
const STARTING = 1
const RUNNING = 2
const WAITING = 3
const ENDED = 4

/**
 * The progress of one workflow in memory: facts go in, decisions come out. A fact costs as much as its edges, never
 * the whole graph. The progress is ahead of the store: a caller that cannot store its decisions discards it and
 * builds a new one from the facts.
 */
export interface WorkflowProgress {
  apply(fact: StepFact): void
  /** From now on only clean-up steps start. The first reason is kept. */
  stop(why: WorkflowStopReason): void
  /** The next decisions, at most `limit`; each decision is returned once. */
  next(limit: number): Decision[]
  /** Running steps and items of a stopped workflow that must be cancelled. */
  unwanted(): Iterable<Pick<StepFact, 'step' | 'item'>>
  /** Whether a user may still skip this step or item. */
  isSkippable(step: number, item: number): boolean
}

/** The facts are in the order of steps and items, and a fan-out precedes its items. */
export function createWorkflowProgress(
  graph: Graph,
  facts: Iterable<StepFact> = [],
): WorkflowProgress {
  return new TrackedWorkflow(graph, facts)
}

class TrackedWorkflow implements WorkflowProgress {
  readonly #graph: Graph
  readonly #phases: Uint8Array
  readonly #fanOuts = new Map<number, FanOut>()
  readonly #needCounters: NeedCounters
  readonly #queue: StepQueue
  #open: number
  #stopped: WorkflowStopReason | null = null
  #isEnded = false
  /** A step failed whose failure counts. */
  #hasFailed = false
  /** A step was kept from running to its end. */
  #wasInterrupted = false

  constructor(graph: Graph, facts: Iterable<StepFact>) {
    this.#graph = graph
    this.#phases = new Uint8Array(graph.size)
    this.#needCounters = createNeedCounters(graph)
    this.#queue = createStepQueue(graph.size)
    this.#open = graph.size
    for (const fact of facts) this.apply(fact)
    for (let step = 0; step < graph.size; step += 1) this.#enqueueIfDecided(step)
  }

  apply(fact: StepFact): void {
    if (fact.item === WHOLE_STEP) return this.#applyStepFact(fact)
    const fanOut = this.#fanOuts.get(fact.step)
    if (!fanOut) return
    fanOut.apply(fact)
    this.#queue.add(fact.step)
  }

  stop(why: WorkflowStopReason): void {
    if (this.#stopped !== null) return
    this.#stopped = why
    for (let step = 0; step < this.#graph.size; step += 1) {
      const phase = this.#phases[step]
      if (phase !== ENDED && phase !== STARTING && this.#isStopped(step)) this.#queue.add(step)
    }
  }

  next(limit: number): Decision[] {
    const decisions: Decision[] = []
    while (decisions.length < limit) {
      const step = this.#queue.take()
      if (step === undefined) break
      const decision = this.#decide(step)
      if (decision) decisions.push(decision)
    }
    if (this.#open === 0 && !this.#isEnded && decisions.length < limit) {
      this.#isEnded = true
      decisions.push(this.#endDecision())
    }
    return decisions
  }

  *unwanted(): Iterable<Pick<StepFact, 'step' | 'item'>> {
    for (let step = 0; step < this.#graph.size; step += 1) {
      if (this.#phases[step] !== RUNNING || !this.#isStopped(step)) continue
      const fanOut = this.#fanOuts.get(step)
      if (!fanOut) yield { step, item: WHOLE_STEP }
      else for (const item of fanOut.liveItems()) yield { step, item }
    }
  }

  isSkippable(step: number, item: number): boolean {
    if (item !== WHOLE_STEP) return this.#fanOuts.get(step)?.isUntouched(item) ?? false
    return this.#phases[step] === UNTOUCHED || this.#phases[step] === WAITING
  }

  #isStopped(step: number): boolean {
    return this.#stopped !== null && !this.#graph.outlivesStop(step)
  }

  #enqueueIfDecided(step: number): void {
    if (this.#phases[step] === UNTOUCHED && this.#needCounters.verdict(step) !== 'not yet')
      this.#queue.add(step)
  }

  #settle(step: number, state: FinalState, reason: StepReason | null): void {
    this.#phases[step] = ENDED
    this.#open -= 1
    this.#fanOuts.delete(step)
    const outcome = stepOutcomeOf(state, reason)
    if (outcome === 'failed' && !this.#graph.mayFail(step)) this.#hasFailed = true
    if (state === 'cancelled' || reason === 'cancelled' || reason === 'timeout')
      this.#wasInterrupted = true
    this.#needCounters.count(step, outcome)
    for (const next of this.#graph.neededBy.of(step)) this.#enqueueIfDecided(next)
    if (this.#needCounters.areOrdinaryStepsDone && !this.#graph.isFinally(step))
      for (const last of this.#graph.finallySteps) this.#enqueueIfDecided(last)
  }

  #applyStepFact({ step, state, reason, count }: StepFact): void {
    if (this.#phases[step] === ENDED) return
    if (isSettled(state)) return this.#settle(step, state, reason)
    this.#phases[step] = state === 'waiting' ? WAITING : RUNNING
    if (count !== null && !this.#fanOuts.has(step)) this.#fanOuts.set(step, createFanOut(count))
    if (count !== null || this.#isStopped(step)) this.#queue.add(step)
  }

  #decide(step: number): Decision | undefined {
    const fanOut = this.#fanOuts.get(step)
    if (fanOut) return this.#decideFanOut(step, fanOut)
    const isUnwanted = this.#isStopped(step)
    if (this.#phases[step] === WAITING && isUnwanted) return this.#close(step, 'cancelled')
    if (this.#phases[step] !== UNTOUCHED) return undefined
    if (isUnwanted) return this.#skip(step, this.#stopped as WorkflowStopReason)
    if (this.#needCounters.verdict(step) === 'never') return this.#skip(step, 'needs')
    this.#phases[step] = STARTING
    return { to: 'start', step, item: WHOLE_STEP }
  }

  #decideFanOut(step: number, fanOut: FanOut): Decision | undefined {
    const hasMore = fanOut.hasUntouched && !this.#isStopped(step)
    if (hasMore && fanOut.live < this.#graph.maxParallel(step)) {
      // Requeued at the end, so that several fan-outs take turns.
      this.#queue.add(step)
      return { to: 'start', step, item: fanOut.startNext() }
    }
    return fanOut.live > 0 ? undefined : this.#close(step, fanOut.ending())
  }

  #skip(step: number, reason: StepReason): Decision {
    this.#settle(step, 'skipped', reason)
    return { to: 'skip', step, reason }
  }

  #close(step: number, state: FinalState): Decision {
    this.#settle(step, state, null)
    return { to: 'close', step, state }
  }

  /** As with any run, a success wins over a stop that came too late to prevent anything. */
  #endDecision(): WorkflowEnd {
    if (this.#stopped === null || (!this.#hasFailed && !this.#wasInterrupted)) {
      return this.#hasFailed
        ? { to: 'end', state: 'failed', cause: 'error' }
        : { to: 'end', state: 'succeeded', cause: null }
    }
    return {
      to: 'end',
      state: this.#stopped === 'timeout' ? 'failed' : 'cancelled',
      cause: this.#stopped,
    }
  }
}
