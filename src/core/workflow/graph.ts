import { type When, WHENS } from './definition.ts'
import { type Pausing, withoutPause } from '../pausing.ts'
import { type Edges, orderAlong, packEdges, turnEdges } from './edges.ts'

/** What the engine has to know of a step; everything else is the affair of whoever starts it. */
export interface GraphStep extends StepTraits {
  /** Indices of the steps it waits for, each once. */
  readonly needs: readonly number[]
}

/** What it has to know besides what the step waits for. */
export interface StepTraits {
  readonly when: When
  /** It waits for everything that is not `finally`; its rule is about its needs, or else about all those. */
  readonly isFinally: boolean
  /** At most so many items of its fan-out at a time; null for as many as there are. */
  readonly maxParallel: number | null
  /** Its failure is no failure of the flow. */
  readonly mayFail: boolean
}

/**
 * The steps of one version of a job, packed: 100,000 of them with a million edges take some 10 MB, once
 * for all flows of that version.
 */
export interface Graph {
  readonly size: number
  /** Every step after those it needs, and `finally` steps last. */
  readonly order: Uint32Array
  readonly needs: Edges
  /** Who needs a step. */
  readonly neededBy: Edges
  readonly finallySteps: readonly number[]
  whenOf(step: number): When
  isFinally(step: number): boolean
  mayFail(step: number): boolean
  /** A flow that is being stopped runs it all the same: it is there to clear up. */
  outlivesStop(step: number): boolean
  mostParallel(step: number): number
}

const IS_FINALLY = 1
const MAY_FAIL = 2
const OUTLIVES_STOP = 4

/** What people write has been checked before, with names and places; here a bad graph is a broken promise. */
export function compileGraph(steps: readonly GraphStep[]): Graph {
  return withoutPause(compilingGraph(steps, packEdges(steps.map(({ needs }) => needs))))
}

/** The same with pauses, of steps whose needs are packed already. */
export function* compilingGraph(steps: readonly StepTraits[], needs: Edges): Pausing<Graph> {
  const size = steps.length
  const neededBy = turnEdges(needs)
  yield
  const order = orderAlong(needs, neededBy)
  if (order.length < size) throw new RangeError('steps need each other in a circle')
  yield
  const whens = Uint8Array.from(steps, ({ when }) => WHENS.indexOf(when))
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
    whenOf: (step) => WHENS[whens[step] as number] as When,
    isFinally,
    mayFail: (step) => has(step, MAY_FAIL),
    outlivesStop: (step) => has(step, OUTLIVES_STOP),
    mostParallel: (step) => limits.get(step) ?? Number.POSITIVE_INFINITY,
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
