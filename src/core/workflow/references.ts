import type { Expression } from '../expression/expression.ts'
import { wrongExpression } from '../expression/problem.ts'
import type { PunctualError } from '../errors.ts'
import { successorsOf } from './circle.ts'

/** An expression of a step that names another step. */
export interface Reference {
  readonly from: number
  readonly to: number
  readonly expression: Expression
}

interface Graph {
  readonly needs: readonly (readonly number[])[]
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
export function unmetReferences(references: readonly Reference[], graph: Graph): Reference[] {
  const far = references.filter((reference) => !isNear(reference, graph))
  const unmet: Reference[] = []
  let visits = 0
  const { offsets, successors } = successorsOf(graph.needs)
  for (const [to, sought] of Map.groupBy(far, (reference) => reference.to)) {
    const after = new Set([to])
    for (const step of after) {
      for (let at = offsets[step] as number; at < (offsets[step + 1] as number); at += 1) {
        after.add(successors[at] as number)
        visits += 1
      }
      if (visits > MOST_VISITS) break
    }
    unmet.push(...sought.filter(({ from }) => !after.has(from)))
  }
  return unmet
}

/** What ends everything may speak of everything. */
function isNear({ from, to }: Reference, { needs, isFinally }: Graph): boolean {
  if (isFinally(from) && !isFinally(to)) return true
  const seen = new Set([from])
  for (const step of seen) {
    for (const need of needs[step] ?? []) {
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
