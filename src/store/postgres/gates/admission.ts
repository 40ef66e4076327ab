import { admit } from '../../../core/queue/gate.ts'
import { startsAfter } from '../../plain-runs.ts'
import type { NewRun } from '../../port.ts'
import { admitWithin, changeHeld, type GateView, lockAndLook } from './admit.ts'
import type { Work } from '../connection/statement.ts'

/** What new runs find at their gates, known before they are written. */
export interface Entrance {
  /** These pass all their gates at once, and never stand before one. */
  readonly passes: ReadonlySet<number>
  /** At which gate a run has to wait, when that is not its first. */
  readonly waitsAt: ReadonlyMap<number, number>
  /** Gates with a line, to be looked at again when everything is written. */
  readonly lines: readonly number[]
  readonly locked: Set<number>
}

export const NO_ENTRANCE: Entrance = {
  passes: new Set(),
  waitsAt: new Map(),
  lines: [],
  locked: new Set(),
}

/**
 * Locks every gate this tick has to do with and decides which of its new runs pass. Writing a run
 * where it will be is a fraction of the work of leading it there through `blocked` and `ready`. Who
 * finds a line joins it, so that nobody is overtaken: the line is then admitted as ever.
 * `freed`: a gate for each place that somebody left.
 */
export async function openEntrance(
  work: Work,
  now: number | null,
  submits: readonly NewRun[],
  freed: readonly number[],
): Promise<Entrance> {
  const gated = submits.filter((run) => run.gates.length > 0 && !startsAfter(run))
  const gates = new Set([...freed, ...gated.flatMap((run) => run.gates)])
  if (gates.size === 0) return NO_ENTRANCE
  const views = await lockAndLook(
    work,
    [...gates].toSorted((a, b) => a - b),
  )
  const places = Map.groupBy(freed, (gate) => gate)
  const rooms = views.map((view) => ({
    ...view,
    holders: view.holders - (places.get(view.id)?.length ?? 0),
  }))
  const entrance = decide(gated, rooms, { freed, now })
  const taken = gated.flatMap(({ id, gates: held }) => (entrance.passes.has(id) ? held : []))
  changeHeld(work, { taken, left: freed })
  return entrance
}

function decide(
  gated: readonly NewRun[],
  views: readonly GateView[],
  { freed, now }: { freed: readonly number[]; now: number | null },
): Entrance {
  const lines = new Set(views.filter(({ hasLine }) => hasLine).map(({ id }) => id))
  // Whether a run with a time is due yet, only the store's clock knows.
  const [first, others] = divide(
    gated,
    ({ dueAt, gates }) => dueAt === null && !gates.some((gate) => lines.has(gate)),
  )
  const candidates = first
    .map(({ id, rank, gates }) => ({ runId: id, rank, gates }))
    .toSorted((a, b) => a.rank - b.rank || a.runId - b.runId)
  const { admitted, waiting } = admit(candidates, views)
  // Where somebody left or arrived, as in the other store: at other gates of theirs nothing has changed.
  const touched = new Set(freed)
  for (const run of others) if (!isLater(run, now)) touched.add(run.gates[0]!)
  return {
    passes: new Set(admitted),
    waitsAt: new Map(waiting.map(({ runId, gate }) => [runId, gate])),
    lines: views
      .filter(({ id, capacity, holders }) => touched.has(id) && holders < capacity)
      .map(({ id }) => id),
    locked: new Set(views.map(({ id }) => id)),
  }
}

/** Whether a time is known to be still to come; by a clock that is not known, none is. */
export function isLater({ dueAt }: NewRun, now: number | null): boolean {
  return dueAt !== null && now !== null && dueAt > now
}

function divide<T>(items: readonly T[], belongs: (item: T) => boolean): [T[], T[]] {
  const { yes = [], no = [] } = Object.groupBy(items, (item) => (belongs(item) ? 'yes' : 'no'))
  return [yes, no]
}

/** Lets those pass who stood in a line; returns the lanes that got runs. */
export function admitLines(work: Work, { locked, lines }: Entrance): Promise<Set<number>> {
  return admitWithin(work, locked, lines)
}
