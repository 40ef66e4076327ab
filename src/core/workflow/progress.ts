import type { FinalState } from '../run/run-state.ts'
import type { Decision, FlowEnd, Stop } from './decision.ts'
import { isSettled, outcomeOf, type StepFact, type StepReason, WHOLE } from './step-facts.ts'
import { createFanOut, type FanOut } from './fan-out.ts'
import type { Graph } from './graph.ts'
import { createStepQueue } from './step-queue.ts'
import { createTallies } from './need-counters.ts'

const UNTOUCHED = 0
/** Somebody was told to start it, and has not said yet what became of it. */
const ASKED = 1
const RUNNING = 2
const WAITING = 3
const OVER = 4

/**
 * How far one flow has come, in memory: what is known goes in, what is to be done comes out. News cost
 * what their edges cost, never what the graph does. It runs ahead of the store: whoever cannot write
 * down what was decided here throws it away, and makes another one from the facts.
 */
export interface Progress {
  hear(fact: StepFact): void
  /** From now on nothing starts but what is there to clear up. The first reason stays. */
  stop(why: Stop): void
  /** What is to be done, at most so much of it; each thing is said once. */
  next(limit: number): Decision[]
  /** What is under way in a stopped flow and shall not go on. */
  unwanted(): Iterable<Pick<StepFact, 'step' | 'item'>>
  /** Whether somebody may still say that it is not needed. */
  isSkippable(step: number, item: number): boolean
}

/** The facts come in the order of steps and items: a fan-out before its items. */
export function createProgress(graph: Graph, facts: Iterable<StepFact> = []): Progress {
  const { size, neededBy, finallySteps } = graph
  const standings = new Uint8Array(size)
  const fanOuts = new Map<number, FanOut>()
  const tallies = createTallies(graph)
  const queue = createStepQueue(size)
  let open = size
  let stopped: Stop | null = null
  let isEnded = false
  /** Something failed that the flow does not forgive; something was kept from running to its end. */
  let hasFailed = false
  let isCutShort = false

  const isStopped = (step: number) => stopped !== null && !graph.outlivesStop(step)

  const look = (step: number) => {
    if (standings[step] === UNTOUCHED && tallies.verdict(step) !== 'not yet') queue.add(step)
  }

  const settle = (step: number, state: FinalState, reason: StepReason | null) => {
    standings[step] = OVER
    open -= 1
    fanOuts.delete(step)
    const outcome = outcomeOf(state, reason)
    if (outcome === 'failed' && !graph.mayFail(step)) hasFailed = true
    if (state === 'cancelled' || reason === 'cancelled' || reason === 'timeout') isCutShort = true
    tallies.count(step, outcome)
    for (const next of neededBy.of(step)) look(next)
    if (tallies.isOrdinaryOver && !graph.isFinally(step))
      for (const last of finallySteps) look(last)
  }

  const hear = ({ step, state, reason, count }: StepFact) => {
    if (standings[step] === OVER) return
    if (isSettled(state)) return settle(step, state, reason)
    standings[step] = state === 'waiting' ? WAITING : RUNNING
    if (count !== null && !fanOuts.has(step)) fanOuts.set(step, createFanOut(count))
    if (count !== null || isStopped(step)) queue.add(step)
  }

  const decide = (step: number): Decision | undefined => {
    const fanOut = fanOuts.get(step)
    if (fanOut) return decideFanOut(step, fanOut)
    const isUnwanted = isStopped(step)
    if (standings[step] === WAITING && isUnwanted) return close(step, 'cancelled')
    if (standings[step] !== UNTOUCHED) return undefined
    if (isUnwanted) return skip(step, stopped as Stop)
    if (tallies.verdict(step) === 'never') return skip(step, 'needs')
    standings[step] = ASKED
    return { to: 'start', step, item: WHOLE }
  }

  const decideFanOut = (step: number, fanOut: FanOut): Decision | undefined => {
    const hasMore = fanOut.hasUntouched && !isStopped(step)
    if (hasMore && fanOut.live < graph.mostParallel(step)) {
      // Back in line, so that several fan-outs start by turns.
      queue.add(step)
      return { to: 'start', step, item: fanOut.startNext() }
    }
    return fanOut.live > 0 ? undefined : close(step, fanOut.ending())
  }

  const skip = (step: number, reason: StepReason): Decision => {
    settle(step, 'skipped', reason)
    return { to: 'skip', step, reason }
  }

  const close = (step: number, state: FinalState): Decision => {
    settle(step, state, null)
    return { to: 'close', step, state }
  }

  /** Like a success of any run, one of a flow wins over a stop that came too late to keep it from anything. */
  const ending = (): FlowEnd => {
    if (stopped === null || (!hasFailed && !isCutShort)) {
      return hasFailed
        ? { to: 'end', state: 'failed', cause: 'error' }
        : { to: 'end', state: 'succeeded', cause: null }
    }
    return { to: 'end', state: stopped === 'timeout' ? 'failed' : 'cancelled', cause: stopped }
  }

  for (const fact of facts) hearAny(fact)
  for (let step = 0; step < size; step += 1) look(step)

  function hearAny(fact: StepFact): void {
    if (fact.item === WHOLE) return hear(fact)
    const fanOut = fanOuts.get(fact.step)
    if (!fanOut) return
    fanOut.hear(fact)
    queue.add(fact.step)
  }

  return {
    hear: hearAny,
    stop(why) {
      if (stopped !== null) return
      stopped = why
      for (let step = 0; step < size; step += 1) {
        const standing = standings[step]
        if (standing !== OVER && standing !== ASKED && isStopped(step)) queue.add(step)
      }
    },
    next(limit) {
      const decisions: Decision[] = []
      while (decisions.length < limit) {
        const step = queue.take()
        if (step === undefined) break
        const decision = decide(step)
        if (decision) decisions.push(decision)
      }
      if (open === 0 && !isEnded && decisions.length < limit) {
        isEnded = true
        decisions.push(ending())
      }
      return decisions
    },
    *unwanted() {
      for (let step = 0; step < size; step += 1) {
        if (standings[step] !== RUNNING || !isStopped(step)) continue
        const fanOut = fanOuts.get(step)
        if (!fanOut) yield { step, item: WHOLE }
        else for (const item of fanOut.liveItems()) yield { step, item }
      }
    },
    isSkippable(step, item) {
      if (item !== WHOLE) return fanOuts.get(step)?.isUntouched(item) ?? false
      return standings[step] === UNTOUCHED || standings[step] === WAITING
    },
  }
}
