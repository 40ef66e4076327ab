import type { Clock } from '../../core/clock.ts'
import type { Pausing } from '../../core/pausing.ts'
import { tightenHeap } from './tight-heap.ts'

/** Longest time a slice may block other work: about as long as a large tick. */
const SLICE_MS = 10

/**
 * Does long work in slices, so that heartbeats and requests are answered in between. Work that
 * needs more than one slice also keeps the heap tight, because it produces much garbage.
 */
export async function runInSlices<Result>(
  work: Pausing<Result>,
  clock: Pick<Clock, 'mono'>,
): Promise<Result> {
  let loosen: (() => void) | undefined
  try {
    for (let since = clock.mono(); ;) {
      const { done, value } = work.next()
      if (done) return value
      if (clock.mono() - since < SLICE_MS) continue
      loosen ??= tightenHeap()
      await new Promise((resolve) => setImmediate(resolve))
      since = clock.mono()
    }
  } finally {
    loosen?.()
  }
}
