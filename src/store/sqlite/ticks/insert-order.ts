import { startsAfter } from '../../run-options.ts'
import type { NewRun, TickBatch } from '../../port.ts'

/** The new runs of a tick by their index in its batch, in the order of insertion. */
export interface InsertOrder {
  /** Runs without gates: inserted before any attempt ends. */
  readonly first: readonly number[]
  /** Runs that may pass their gates at once, in queue order. */
  readonly entering: readonly number[]
  /** Runs that may not be due yet, and runs that wait for other runs. */
  readonly last: readonly number[]
}

/**
 * Gated runs are inserted after the ends of the tick, so that they find the slots that became free.
 * Null if all runs are inserted first and wait at their gates until the rest is done: most ticks
 * have no gated runs, and with cancels, keys or repeats it is not known in advance which runs are
 * inserted. Both stores decide this alike.
 */
export function orderInserts(
  { submits, cancels }: TickBatch,
  isRepeated: (runs: readonly NewRun[]) => boolean,
): InsertOrder | null {
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
