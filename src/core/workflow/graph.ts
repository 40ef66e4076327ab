import { type StepRule, STEP_RULES } from './definition.ts'
import { type Pausing, runWithoutPauses } from '../pausing.ts'
import { type Edges, topologicalOrder, packEdges, reverseEdges } from './edges.ts'

/** The facts about a step that the engine needs; the caller knows the rest. */
export interface GraphStep extends StepTraits {
  /** Indices of the needed steps, each once. */
  readonly needs: readonly number[]
}

/** The facts besides the needs. */
export interface StepTraits {
  readonly when: StepRule
  /**
   * The step waits for all steps that are not `finally`; its rule applies to its needs, or to all those steps if it
   * has none.
   */
  readonly isFinally: boolean
  /** Maximum number of items of its fan-out that run at once; null for no limit. */
  readonly maxParallel: number | null
  /** A failure of the step does not fail the workflow. */
  readonly mayFail: boolean
}

/**
 * The steps of one version of a job in compact form, shared by all workflows of that version: 100,000 steps with a
 * million edges take about 10 MB.
 */
export interface Graph {
  readonly size: number
  /** All steps in topological order, `finally` steps last. */
  readonly order: Uint32Array
  readonly needs: Edges
  /** The steps that need each step. */
  readonly neededBy: Edges
  readonly finallySteps: readonly number[]
  whenOf(step: number): StepRule
  isFinally(step: number): boolean
  mayFail(step: number): boolean
  /** Whether the step runs even when the workflow is being stopped, to clean up. */
  outlivesStop(step: number): boolean
  maxParallel(step: number): number
}

const IS_FINALLY = 1
const MAY_FAIL = 2
const OUTLIVES_STOP = 4

/**
 * Definitions were validated before, with names and fields in the errors; an invalid graph here is a programming
 * error.
 */
export function compileGraph(steps: readonly GraphStep[]): Graph {
  return runWithoutPauses(compilingGraph(steps, packEdges(steps.map(({ needs }) => needs))))
}

/** The same with pauses, for steps whose needs are already packed. */
export function* compilingGraph(steps: readonly StepTraits[], needs: Edges): Pausing<Graph> {
  const size = steps.length
  const neededBy = reverseEdges(needs)
  yield
  const order = topologicalOrder(needs, neededBy)
  if (order.length < size) throw new RangeError('steps need each other in a cycle')
  yield
  const whens = Uint8Array.from(steps, ({ when }) => STEP_RULES.indexOf(when))
  const flags = Uint8Array.from(steps, flagsOf)
  const has = (step: number, flag: number) => ((flags[step] as number) & flag) !== 0
  const limits = new Map<number, number>()
  const hasFinally = flags.some((flag) => (flag & IS_FINALLY) !== 0)
  for (const [step, { maxParallel, isFinally }] of steps.entries()) {
    if (maxParallel !== null) limits.set(step, maxParallel)
    if (hasFinally && !isFinally && needs.of(step).some((need) => has(need, IS_FINALLY))) {
      throw new RangeError(`step ${step} waits for a finally step, which waits for it`)
    }
    yield
  }
  const isFinally = (step: number) => has(step, IS_FINALLY)
  return {
    size,
    order: finallyLast(order, isFinally),
    needs,
    neededBy,
    finallySteps: steps.flatMap((step, index) => (step.isFinally ? [index] : [])),
    whenOf: (step) => STEP_RULES[whens[step] as number] as StepRule,
    isFinally,
    mayFail: (step) => has(step, MAY_FAIL),
    outlivesStop: (step) => has(step, OUTLIVES_STOP),
    maxParallel: (step) => limits.get(step) ?? Number.POSITIVE_INFINITY,
  }
}

function finallyLast(order: Uint32Array, isFinally: (step: number) => boolean): Uint32Array {
  const ordered = new Uint32Array(order.length)
  const ordinary = order.filter((step) => !isFinally(step))
  ordered.set(ordinary)
  ordered.set(order.filter(isFinally), ordinary.length)
  return ordered
}

function flagsOf({ isFinally, mayFail, when }: StepTraits): number {
  return (
    (isFinally ? IS_FINALLY : 0) |
    (mayFail ? MAY_FAIL : 0) |
    (isFinally || when === 'always' ? OUTLIVES_STOP : 0)
  )
}
