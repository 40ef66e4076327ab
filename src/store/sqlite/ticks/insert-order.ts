import { startsAfter } from '../../plain-runs.ts'
import type { NewRun, TickBatch } from '../../port.ts'

/** The new runs of a tick by their places in its batch, in the order in which they come in. */
export interface Arrivals {
  /** Those that have nothing to do with gates: before anybody ends. */
  readonly first: readonly number[]
  /** Those that may pass their gates at once, in the order of the line. */
  readonly entering: readonly number[]
  /** Those whose time may not have come, and those that wait for other runs. */
  readonly last: readonly number[]
}

/**
 * Runs at gates come in when those who leave are gone, and so find the room they need. Null where all
 * come first and wait at their gates until everything else is done: most ticks have no such runs, and
 * with cancels, keys or repeats it is not known who will be there. Both stores decide it alike.
 */
export function arrange(
  { submits, cancels }: TickBatch,
  isRepeated: (runs: readonly NewRun[]) => boolean,
): Arrivals | null {
  if (!submits.some(isGated) || cancels.length > 0 || submits.some(isKeyed)) return null
  if (isRepeated(submits)) return null
  const places = [...submits.keys()]
  const run = (place: number) => submits[place] as NewRun
  const gated = places.filter((place) => isGated(run(place)))
  const mayEnter = (place: number) => run(place).dueAt === null && !startsAfter(run(place))
  return {
    first: places.filter((place) => !isGated(run(place))),
    entering: gated
      .filter(mayEnter)
      .sort((a, b) => run(a).rank - run(b).rank || run(a).id - run(b).id),
    last: gated.filter((place) => !mayEnter(place)),
  }
}

function isGated({ gates }: NewRun): boolean {
  return gates.length > 0
}

function isKeyed({ dedupeKey, idempotency }: NewRun): boolean {
  return dedupeKey !== null || idempotency !== null
}
