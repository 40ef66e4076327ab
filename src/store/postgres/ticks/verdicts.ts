import {
  StoreError,
  type CancelVerdict,
  type EndVerdict,
  type NewRun,
  type SubmitVerdict,
  type TickBatch,
  type TickResult,
} from '../../port.ts'
import { startsAfter } from '../../run-options.ts'
import type { Connection } from '../connection/connection.ts'
import { findEnded } from './end.ts'
import { readMinters, verdictOnKnown } from './submit.ts'
import type { TickOutcome } from './tick.ts'
import { nameOfAttempt, nameOfCancel, type TickPlan } from './tick-plan.ts'
import { transact } from '../connection/transaction.ts'

type Verdicts = Pick<TickResult, 'submits' | 'ends' | 'cancels'>

/**
 * The verdict on each item, in the order they came. Items that a statement did not find are looked
 * up after the commit: the rows that answer never change, and most ticks need none.
 */
export async function toVerdicts(
  connection: Connection,
  batch: TickBatch,
  plan: TickPlan,
  done: TickOutcome,
): Promise<Verdicts> {
  try {
    return {
      submits: await submitVerdicts(connection, batch, done),
      ends: await endVerdicts(connection, batch, plan, done),
      cancels: cancelVerdicts(batch, done),
    }
  } catch (error) {
    // The tick is committed; only its answer is lost, as if the connection had broken at COMMIT.
    throw new StoreError('unknown', (error as Error).message, { cause: error })
  }
}

async function submitVerdicts(
  connection: Connection,
  { submits, node }: TickBatch,
  { submission, refused, admission }: TickOutcome,
): Promise<SubmitVerdict[]> {
  const inserted = submission?.inserted ?? null
  const isInserted = (id: number) => !refused.has(id) && (inserted === null || inserted.has(id))
  const known = submits.filter(({ id }) => !refused.has(id) && !isInserted(id))
  const minters =
    known.length === 0
      ? new Map<number, number>()
      : await transact(
          connection,
          (tx) =>
            readMinters(
              tx,
              known.map(({ id }) => id),
            ),
          'reading',
        )
  const seen = new Set<number>()
  const now = submission?.now ?? 0
  const isNotHeld = (run: NewRun) => {
    const { id, gates, dueAt } = run
    if (startsAfter(run)) return false
    return gates.length === 0 || admission.passes.has(id) || (dueAt !== null && dueAt > now)
  }
  return submits.map((run) => {
    const { id } = run
    const isRepeat = seen.has(id)
    seen.add(id)
    if (isInserted(id)) {
      if (isRepeat) return { kind: 'exists' }
      return { kind: isNotHeld(run) ? 'inserted' : 'gated' }
    }
    return refused.get(id) ?? verdictOnKnown(minters.get(id), node)
  })
}

async function endVerdicts(
  connection: Connection,
  { ends }: TickBatch,
  plan: TickPlan,
  { endedAttempts }: TickOutcome,
): Promise<EndVerdict[]> {
  if (endedAttempts.every(({ ended }) => ended === null) && endedAttempts.length < 2) {
    return ends.map(() => 'ended')
  }
  const verdicts: (EndVerdict | undefined)[] = ends.map(() => undefined)
  const endedAt = new Map<string, number>()
  for (const [nth, round] of plan.endRounds.entries()) {
    const found = endedAttempts[nth]!.ended
    for (const [position, index] of round.entries()) {
      if (found !== null && !found.has(position + 1)) continue
      verdicts[index] = 'ended'
      endedAt.set(nameOfAttempt(ends[index]!), index)
    }
  }
  const open = ends.filter((_, index) => verdicts[index] === undefined)
  if (open.length === 0) return verdicts as EndVerdict[]
  const endedWith = await transact(connection, (tx) => findEnded(tx, open), 'reading')
  return ends.map((end, index) => {
    // An end made by this very tick did not exist yet when an earlier report of it was turned down.
    const isEarlier = index < (endedAt.get(nameOfAttempt(end)) ?? 0)
    return verdicts[index] ?? (!isEarlier && endedWith(end) === end.cause ? 'replayed' : 'stale')
  })
}

function cancelVerdicts(batch: TickBatch, { cancels }: TickOutcome): CancelVerdict[] {
  const seen = new Set<string>()
  return batch.cancels.map((command) => {
    const verdict = cancels!.verdicts.get(nameOfCancel(command))!
    const isRepeat = seen.has(nameOfCancel(command))
    seen.add(nameOfCancel(command))
    return isRepeat && verdict.kind === 'cancelled'
      ? { kind: 'final', state: 'cancelled' }
      : verdict
  })
}
