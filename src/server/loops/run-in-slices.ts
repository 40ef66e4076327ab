import type { Clock } from '../../core/clock.ts'
import type { Pausing } from '../../core/pausing.ts'
import { tightenHeap } from './tight-heap.ts'

/** So long everybody else waits for a part of something long: no longer than for a large tick. */
const TURN_MS = 10

/**
 * Does long work a turn at a time, so that heartbeats and requests are answered in between. What takes more
 * than one turn throws a lot away meanwhile.
 */
export async function inTurns<Result>(
  work: Pausing<Result>,
  clock: Pick<Clock, 'mono'>,
): Promise<Result> {
  let loosen: (() => void) | undefined
  try {
    for (let since = clock.mono(); ;) {
      const { done, value } = work.next()
      if (done) return value
      if (clock.mono() - since < TURN_MS) continue
      loosen ??= tightenHeap()
      await new Promise((resolve) => setImmediate(resolve))
      since = clock.mono()
    }
  } finally {
    loosen?.()
  }
}
