/** For every step a list of other steps, in two arrays instead of one array per step. */
export interface Edges {
  readonly size: number
  /** The list of step `n` is in `ends` from `starts[n]` to `starts[n + 1]`. */
  readonly starts: Uint32Array
  readonly ends: Uint32Array
  of(step: number): Uint32Array
  countOf(step: number): number
}

/** Collects the lists step by step. */
export interface EdgePacker {
  add(end: number): void
  /** Ends the list of the current step. */
  nextStep(): void
  packed(): Edges
}

export function createEdgePacker(size: number): EdgePacker {
  const starts = new Uint32Array(size + 1)
  let ends = new Uint32Array(size)
  let step = 0
  let count = 0
  return {
    add(end) {
      if (count === ends.length) {
        const larger = new Uint32Array(2 * count + 8)
        larger.set(ends)
        ends = larger
      }
      ends[count] = end
      count += 1
    },
    nextStep() {
      step += 1
      starts[step] = count
    },
    packed: () => edgesOf(starts, ends.slice(0, count)),
  }
}

export function packEdges(lists: readonly (readonly number[])[]): Edges {
  const packer = createEdgePacker(lists.length)
  for (const list of lists) {
    for (const end of list) packer.add(end)
    packer.nextStep()
  }
  return packer.packed()
}

/** The same edges in the opposite direction. */
export function reverseEdges({ size, starts, ends }: Edges): Edges {
  const turnedStarts = new Uint32Array(size + 1)
  for (let at = 0; at < ends.length; at += 1) turnedStarts[(ends[at] as number) + 1]! += 1
  for (let step = 0; step < size; step += 1) {
    turnedStarts[step + 1]! += turnedStarts[step] as number
  }
  const filled = turnedStarts.slice(0, size)
  const turnedEnds = new Uint32Array(ends.length)
  for (let step = 0; step < size; step += 1) {
    for (let at = starts[step] as number; at < (starts[step + 1] as number); at += 1) {
      const end = ends[at] as number
      turnedEnds[filled[end] as number] = step
      filled[end]! += 1
    }
  }
  return edgesOf(turnedStarts, turnedEnds)
}

/** Topological order: every step after the steps its edges lead to. Shorter than `size` if there is a cycle. */
export function topologicalOrder(edges: Edges, turned: Edges): Uint32Array {
  const { size } = edges
  const left = new Uint32Array(size)
  for (let step = 0; step < size; step += 1) left[step] = edges.countOf(step)
  const order = new Uint32Array(size)
  let known = 0
  for (let step = 0; step < size; step += 1) if (left[step] === 0) order[known++] = step
  for (let visited = 0; visited < known; visited += 1) {
    const step = order[visited] as number
    const until = turned.starts[step + 1] as number
    for (let at = turned.starts[step] as number; at < until; at += 1) {
      const next = turned.ends[at] as number
      left[next]! -= 1
      if (left[next] === 0) order[known++] = next
    }
  }
  return order.subarray(0, known)
}

function edgesOf(starts: Uint32Array, ends: Uint32Array): Edges {
  return {
    size: starts.length - 1,
    starts,
    ends,
    of: (step) => ends.subarray(starts[step], starts[step + 1]),
    countOf: (step) => (starts[step + 1] as number) - (starts[step] as number),
  }
}
