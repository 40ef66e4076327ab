import type { Expression } from '../expression/expression.ts'
import { wrongExpression } from '../expression/expression-error.ts'
import type { PunctualError } from '../errors.ts'
import { type Edges, turnEdges } from './edges.ts'
import type { Pausing } from '../pausing.ts'

/** An expression of a step that names another step. */
export interface Reference {
  readonly from: number
  readonly to: number
  readonly expression: Expression
}

interface Graph {
  readonly needs: Edges
  readonly isFinally: (step: number) => boolean
}

/** Most expressions name a step that is near; so far back is looked at first. */
const NEAR = 64
/** Beyond this, checking would cost more than anybody should wait for. */
const MOST_VISITS = 20_000_000

/**
 * Which references name a step that may not have ended when they are evaluated: only steps that are
 * needed, directly or through others, surely have.
 */
export function* findUnmet(references: readonly Reference[], graph: Graph): Pausing<Reference[]> {
  const far: Reference[] = []
  for (const reference of references) {
    if (!isNear(reference, graph)) far.push(reference)
    yield
  }
  if (far.length === 0) return far
  const unmet: Reference[] = []
  let visits = 0
  const { starts, ends } = turnEdges(graph.needs)
  for (const [to, sought] of Map.groupBy(far, (reference) => reference.to)) {
    const missing = new Set(sought.map(({ from }) => from))
    const after = new Set([to])
    for (const step of after) {
      missing.delete(step)
      if (missing.size === 0) break
      for (let at = starts[step] as number; at < (starts[step + 1] as number); at += 1) {
        after.add(ends[at] as number)
        visits += 1
      }
      // Nobody is told off for what was not looked at.
      if (visits > MOST_VISITS) return unmet
      yield
    }
    for (const reference of sought) if (missing.has(reference.from)) unmet.push(reference)
  }
  return unmet
}

/** What ends everything may speak of everything. */
function isNear({ from, to }: Reference, { needs, isFinally }: Graph): boolean {
  if (isFinally(from) && !isFinally(to)) return true
  const seen = new Set([from])
  for (const step of seen) {
    for (const need of needs.of(step)) {
      if (need === to) return true
      if (seen.size < NEAR) seen.add(need)
    }
  }
  return false
}

export function unmet({ field }: Expression, from: string, to: string): PunctualError {
  const message = `${from} does not need ${to}, so ${to} may not have ended when this is evaluated`
  return wrongExpression(field, message, `Add ${to} to the needs of ${from}.`)
}
