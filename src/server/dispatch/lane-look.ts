import type { LaneHead } from '../../store/port.ts'
import { type LaneHint, noteEmpty, noteEntered } from './lane-hint.ts'

/** How far a look counts in one lane, and in all of them together. */
const COUNTED_AT_MOST = 64
const ALL_COUNTED = 20_000

/** A question to the store about the heads of all lanes. */
export interface LaneLook {
  /** How far to count in each lane. */
  readonly most: number
  /** The answer. */
  seen(heads: readonly LaneHead[]): void
}

/** Called before the store is asked: later arrivals may be newer than the answer. */
export function startLaneLook(
  hints: ReadonlyMap<number, LaneHint>,
  onChange: {
    /** A run was seen in the lane. */
    entered(hint: LaneHint): void
    emptied(hint: LaneHint): void
  },
): LaneLook {
  const before = new Map(Array.from(hints.values(), (hint) => [hint, hint.arrivals]))
  const most = Math.min(COUNTED_AT_MOST, Math.max(1, Math.floor(ALL_COUNTED / hints.size)))
  const seen = (heads: readonly LaneHead[]) => {
    for (const head of heads) {
      const hint = hints.get(head.laneId)
      if (!hint) continue
      const since = hint.arrivals - (before.get(hint) ?? 0)
      before.delete(hint)
      noteHead(hint, head, { since, most })
      onChange.entered(hint)
    }
    for (const [hint, arrivals] of before) {
      hint.isLookPending = false
      if (hint.arrivals !== arrivals || !hint.mayHaveWork) continue
      noteEmpty(hint)
      onChange.emptied(hint)
    }
  }
  return { most, seen }
}

/** `since`: number of arrivals since the store was asked. */
function noteHead(
  hint: LaneHint,
  { rank, pos, depth }: LaneHead,
  { since, most }: { readonly since: number; readonly most: number },
): void {
  hint.isLookPending = false
  const counted = depth < most ? depth + since : Number.POSITIVE_INFINITY
  // What could not be counted on arrival since then still cannot.
  const expected = since > 0 ? Math.max(counted, hint.expected) : counted
  noteEntered(hint, { rank, pos })
  hint.expected = expected
  hint.headRank = rank
}
