/** A queue of steps to examine, each at most once, in a ring buffer of fixed size. */
export interface StepQueue {
  add(step: number): void
  take(): number | undefined
  readonly isEmpty: boolean
}

export function createStepQueue(size: number): StepQueue {
  const ring = new Uint32Array(size)
  const isIn = new Uint8Array(size)
  let first = 0
  let length = 0
  return {
    add(step) {
      if (isIn[step] === 1) return
      isIn[step] = 1
      ring[(first + length) % size] = step
      length += 1
    },
    take() {
      if (length === 0) return undefined
      const step = ring[first] as number
      first = (first + 1) % size
      length -= 1
      isIn[step] = 0
      return step
    },
    get isEmpty() {
      return length === 0
    },
  }
}
