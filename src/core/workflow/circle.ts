/**
 * A circle among steps that need each other, each followed by one it needs and the first again at the
 * end; `undefined` if there is none. Without recursion: a chain may be a hundred thousand steps long.
 */
export function findCircle(needs: readonly (readonly number[])[]): number[] | undefined {
  const stuck = stuckSteps(needs)
  const first = stuck.indexOf(1)
  if (first < 0) return undefined
  // Each stuck step needs another stuck one, so whoever goes on long enough comes round.
  const seenAt = new Map<number, number>()
  const path: number[] = []
  let step = first
  for (;;) {
    const start = seenAt.get(step)
    if (start !== undefined) return [...path.slice(start), step]
    seenAt.set(step, path.length)
    path.push(step)
    step = (needs[step] as readonly number[]).find((need) => stuck[need] === 1) as number
  }
}

/** 1 for every step that could never begin, because it needs a circle or is part of one. */
function stuckSteps(needs: readonly (readonly number[])[]): Uint8Array {
  const { offsets, successors } = successorsOf(needs)
  const waiting = Int32Array.from(needs, ({ length }) => length)
  const stuck = new Uint8Array(needs.length).fill(1)
  const free: number[] = []
  for (const [step, count] of waiting.entries()) if (count === 0) free.push(step)
  for (let step = free.pop(); step !== undefined; step = free.pop()) {
    stuck[step] = 0
    for (let at = offsets[step] as number; at < (offsets[step + 1] as number); at += 1) {
      const next = successors[at] as number
      const left = (waiting[next] as number) - 1
      waiting[next] = left
      if (left === 0) free.push(next)
    }
  }
  return stuck
}

/** Who needs whom, the other way round; those of step `n` stand from `offsets[n]` to `offsets[n + 1]`. */
export function successorsOf(needs: readonly (readonly number[])[]) {
  const offsets = new Int32Array(needs.length + 1)
  for (const list of needs) for (const need of list) offsets[need + 1] = offsets[need + 1]! + 1
  for (let step = 0; step < needs.length; step += 1) offsets[step + 1]! += offsets[step]!
  const filled = offsets.slice()
  const successors = new Int32Array(offsets[needs.length] as number)
  for (const [step, list] of needs.entries()) {
    for (const need of list) {
      const at = filled[need] as number
      successors[at] = step
      filled[need] = at + 1
    }
  }
  return { offsets, successors }
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
