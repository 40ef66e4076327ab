import type { Expression } from '../../expression/expression.ts'
import { expressionError } from '../../expression/expression-error.ts'
import type { PunctualError } from '../../errors.ts'
import { type Edges, reverseEdges } from '../edges.ts'
import type { Pausing } from '../../pausing.ts'

/** An expression of one step that refers to another step. */
export interface StepReference {
  readonly from: number
  readonly to: number
  readonly expression: Expression
}

interface Graph {
  readonly needs: Edges
  readonly isFinally: (step: number) => boolean
}

/** Most expressions refer to a nearby step, so this many predecessors are checked first. */
const NEARBY_STEPS = 64
/** Limit of the check: a complete check of a larger workflow would take too long. */
const MAX_VISITS = 20_000_000

/**
 * Finds references to a step that may not have ended when they are evaluated: only directly or indirectly needed
 * steps certainly have.
 */
export function* findUnorderedReferences(
  references: readonly StepReference[],
  graph: Graph,
): Pausing<StepReference[]> {
  const distant: StepReference[] = []
  for (const reference of references) {
    if (!isNearbyNeed(reference, graph)) distant.push(reference)
    yield
  }
  if (distant.length === 0) return distant
  const unordered: StepReference[] = []
  let visits = 0
  const { starts, ends } = reverseEdges(graph.needs)
  for (const [to, targets] of Map.groupBy(distant, (reference) => reference.to)) {
    const missing = new Set(targets.map(({ from }) => from))
    const after = new Set([to])
    for (const step of after) {
      missing.delete(step)
      if (missing.size === 0) break
      for (let at = starts[step] as number; at < (starts[step + 1] as number); at += 1) {
        after.add(ends[at] as number)
        visits += 1
      }
      // Beyond the limit, references that were not checked are accepted.
      if (visits > MAX_VISITS) return unordered
      yield
    }
    for (const reference of targets) if (missing.has(reference.from)) unordered.push(reference)
  }
  return unordered
}

/** A finally step may refer to every ordinary step. */
function isNearbyNeed({ from, to }: StepReference, { needs, isFinally }: Graph): boolean {
  if (isFinally(from) && !isFinally(to)) return true
  const seen = new Set([from])
  for (const step of seen) {
    for (const need of needs.of(step)) {
      if (need === to) return true
      if (seen.size < NEARBY_STEPS) seen.add(need)
    }
  }
  return false
}

export function unorderedReferenceError(
  { field }: Expression,
  from: string,
  to: string,
): PunctualError {
  const message = `${from} does not need ${to}, so ${to} may not have ended when this is evaluated`
  return expressionError(field, message, `Add ${to} to the needs of ${from}.`)
}
