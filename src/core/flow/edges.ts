/** For every step a list of others, in two arrays instead of an array per step. */
export interface Edges {
  of(step: number): Uint32Array
}

export function packEdges(lists: readonly (readonly number[])[]): Edges {
  const starts = new Uint32Array(lists.length + 1)
  for (const [step, list] of lists.entries()) {
    starts[step + 1] = (starts[step] as number) + list.length
  }
  const ends = new Uint32Array(starts[lists.length] as number)
  for (const [step, list] of lists.entries()) ends.set(list, starts[step])
  return edgesOf(starts, ends)
}

/** The same edges seen from their other ends. */
export function turnEdges(edges: Edges, size: number): Edges {
  const starts = new Uint32Array(size + 1)
  for (let step = 0; step < size; step += 1) {
    for (const end of edges.of(step)) starts[end + 1] = (starts[end + 1] as number) + 1
  }
  for (let step = 0; step < size; step += 1) {
    starts[step + 1] = (starts[step + 1] as number) + (starts[step] as number)
  }
  const filled = starts.slice(0, size)
  const ends = new Uint32Array(starts[size] as number)
  for (let step = 0; step < size; step += 1) {
    for (const end of edges.of(step)) {
      const place = filled[end] as number
      ends[place] = step
      filled[end] = place + 1
    }
  }
  return edgesOf(starts, ends)
}

/** Every step after those its edges lead to; shorter than `size` if some go round in a circle. */
export function orderAlong(edges: Edges, turned: Edges, size: number): Uint32Array {
  const left = Uint32Array.from({ length: size }, (_, step) => edges.of(step).length)
  const order = new Uint32Array(size)
  let known = 0
  for (let step = 0; step < size; step += 1) if (left[step] === 0) order[known++] = step
  for (let looked = 0; looked < known; looked += 1) {
    for (const next of turned.of(order[looked] as number)) {
      const rest = (left[next] as number) - 1
      left[next] = rest
      if (rest === 0) order[known++] = next
    }
  }
  return order.subarray(0, known)
}

function edgesOf(starts: Uint32Array, ends: Uint32Array): Edges {
  return { of: (step) => ends.subarray(starts[step], starts[step + 1]) }
}
