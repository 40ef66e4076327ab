import { admit } from '../../../core/queue/gate.ts'
import { startsAfter } from '../../run-options.ts'
import type { NewRun } from '../../port.ts'
import { admitWithin, changeHolders, type GateView, lockAndReadGates } from './admit.ts'
import type { Queryable } from '../connection/statement.ts'

/** The gate decisions for new runs, made before they are written. */
export interface GateAdmission {
  /** These pass all their gates at once, and never wait at one. */
  readonly passes: ReadonlySet<number>
  /** The gate at which a run has to wait, when it is not its first. */
  readonly waitsAt: ReadonlyMap<number, number>
  /** Gates with waiting runs, to be processed again when everything is written. */
  readonly gatesToAdmit: readonly number[]
  readonly locked: Set<number>
}

export const NO_GATE_ADMISSION: GateAdmission = {
  passes: new Set(),
  waitsAt: new Map(),
  gatesToAdmit: [],
  locked: new Set(),
}

/**
 * Locks every gate of this tick and decides which of its new runs pass. Writing a run straight into
 * its final state costs a fraction of moving it through `blocked` and `ready`. A run that finds
 * others waiting joins the queue, so that none is overtaken; the queue is then admitted as usual.
 * `freed`: a gate once per slot that was freed.
 */
export async function decideAdmission(
  tx: Queryable,
  now: number | null,
  submits: readonly NewRun[],
  freed: readonly number[],
): Promise<GateAdmission> {
  const gated = submits.filter((run) => run.gates.length > 0 && !startsAfter(run))
  const gates = new Set([...freed, ...gated.flatMap((run) => run.gates)])
  if (gates.size === 0) return NO_GATE_ADMISSION
  const views = await lockAndReadGates(
    tx,
    [...gates].toSorted((a, b) => a - b),
  )
  const places = Map.groupBy(freed, (gate) => gate)
  const occupancy = views.map((view) => ({
    ...view,
    holders: view.holders - (places.get(view.id)?.length ?? 0),
  }))
  const admission = decide(gated, occupancy, { freed, now })
  const taken = gated.flatMap(({ id, gates: ofRun }) => (admission.passes.has(id) ? ofRun : []))
  changeHolders(tx, { taken, left: freed })
  return admission
}

function decide(
  gated: readonly NewRun[],
  views: readonly GateView[],
  { freed, now }: { freed: readonly number[]; now: number | null },
): GateAdmission {
  const gatesWithQueue = new Set(views.filter(({ hasWaiting }) => hasWaiting).map(({ id }) => id))
  // Only the store's clock knows whether a run with a due time is due yet.
  const [first, others] = divide(
    gated,
    ({ dueAt, gates }) => dueAt === null && !gates.some((gate) => gatesWithQueue.has(gate)),
  )
  const candidates = first
    .map(({ id, rank, gates }) => ({ runId: id, rank, gates }))
    .toSorted((a, b) => a.rank - b.rank || a.runId - b.runId)
  const { admitted, waiting } = admit(candidates, views)
  // Gates that a run left or arrived at, as in the SQLite store: at its other gates nothing has
  // changed.
  const touched = new Set(freed)
  for (const run of others) if (!isLater(run, now)) touched.add(run.gates[0]!)
  return {
    passes: new Set(admitted),
    waitsAt: new Map(waiting.map(({ runId, gate }) => [runId, gate])),
    gatesToAdmit: views
      .filter(({ id, capacity, holders }) => touched.has(id) && holders < capacity)
      .map(({ id }) => id),
    locked: new Set(views.map(({ id }) => id)),
  }
}

/** Whether the due time is known to be in the future; false if the clock is not known. */
export function isLater({ dueAt }: NewRun, now: number | null): boolean {
  return dueAt !== null && now !== null && dueAt > now
}

function divide<T>(items: readonly T[], belongs: (item: T) => boolean): [T[], T[]] {
  const { yes = [], no = [] } = Object.groupBy(items, (item) => (belongs(item) ? 'yes' : 'no'))
  return [yes, no]
}

/** Admits waiting runs; returns the lanes that received runs. */
export function admitWaiting(
  tx: Queryable,
  { locked, gatesToAdmit }: GateAdmission,
): Promise<Set<number>> {
  return admitWithin(tx, locked, gatesToAdmit)
}
