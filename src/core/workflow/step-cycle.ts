import { type Edges, orderAlong, turnEdges } from './edges.ts'

/**
 * A circle among steps that need each other, each followed by one it needs and the first again at the
 * end; `undefined` if there is none. Without recursion: a chain may be a hundred thousand steps long.
 */
export function findCircle(needs: Edges): number[] | undefined {
  const order = orderAlong(needs, turnEdges(needs))
  if (order.length === needs.size) return undefined
  // Whoever has no place in the order needs a circle or is part of one.
  const stuck = new Uint8Array(needs.size).fill(1)
  for (const step of order) stuck[step] = 0
  // Each stuck step needs another stuck one, so whoever goes on long enough comes round.
  const seenAt = new Map<number, number>()
  const path: number[] = []
  let step = stuck.indexOf(1)
  for (;;) {
    const start = seenAt.get(step)
    if (start !== undefined) return [...path.slice(start), step]
    seenAt.set(step, path.length)
    path.push(step)
    step = needs.of(step).find((need) => stuck[need] === 1) as number
  }
}

const SHOWN = 4

/** `a → b → c → a`; of a long one, both ends. */
export function showCircle(circle: readonly number[], nameOf: (step: number) => string): string {
  const names = (steps: readonly number[]) => steps.map((step) => nameOf(step))
  if (circle.length <= SHOWN * 2) return names(circle).join(' → ')
  const left = circle.length - SHOWN * 2
  return [
    ...names(circle.slice(0, SHOWN)),
    `… ${left} more …`,
    ...names(circle.slice(-SHOWN)),
  ].join(' → ')
}
