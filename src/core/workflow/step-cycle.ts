import { type Edges, topologicalOrder, reverseEdges } from './edges.ts'

/**
 * A cycle of steps that need each other, each followed by a step it needs, with the first one again at the end;
 * `undefined` if there is none. Without recursion: a chain may have a hundred thousand steps.
 */
export function findCycle(needs: Edges): number[] | undefined {
  const order = topologicalOrder(needs, reverseEdges(needs))
  if (order.length === needs.size) return undefined
  // A step without a position in the order is part of a cycle or needs one.
  const isUnordered = new Uint8Array(needs.size).fill(1)
  for (const step of order) isUnordered[step] = 0
  // Each such step needs another one, so following the needs leads to a cycle.
  const seenAt = new Map<number, number>()
  const path: number[] = []
  let step = isUnordered.indexOf(1)
  for (;;) {
    const start = seenAt.get(step)
    if (start !== undefined) return [...path.slice(start), step]
    seenAt.set(step, path.length)
    path.push(step)
    step = needs.of(step).find((need) => isUnordered[need] === 1) as number
  }
}

const SHOWN = 4

/** `a → b → c → a`; a long cycle is shortened in the middle. */
export function describeCycle(cycle: readonly number[], nameOf: (step: number) => string): string {
  const names = (steps: readonly number[]) => steps.map((step) => nameOf(step))
  if (cycle.length <= SHOWN * 2) return names(cycle).join(' → ')
  const hidden = cycle.length - SHOWN * 2
  return [
    ...names(cycle.slice(0, SHOWN)),
    `… ${hidden} more …`,
    ...names(cycle.slice(-SHOWN)),
  ].join(' → ')
}
