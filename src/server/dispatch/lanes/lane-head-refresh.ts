import type { LaneHead } from '../../../store/port.ts'
import { type LaneHint, noteEmpty, noteEntered } from './lane-hint.ts'

/** Maximum number of runs counted in one lane, and in all lanes together. */
const MAX_COUNT = 64
const MAX_TOTAL_COUNT = 20_000

/** One read of the heads of all lanes. */
export interface LaneHeadRefresh {
  /** How far to count in each lane. */
  readonly maxCount: number
  /** Updates the hints of all lanes from what was read. */
  apply(heads: readonly LaneHead[]): void
}

/** Called before the read: runs that arrive later may be missing in it. */
export function startLaneHeadRefresh(
  hints: ReadonlyMap<number, LaneHint>,
  onChange: {
    /** A run was seen in the lane. */
    entered(hint: LaneHint): void
    emptied(hint: LaneHint): void
  },
): LaneHeadRefresh {
  const before = new Map(Array.from(hints.values(), (hint) => [hint, hint.arrivals]))
  const maxCount = Math.min(MAX_COUNT, Math.max(1, Math.floor(MAX_TOTAL_COUNT / hints.size)))
  const apply = (heads: readonly LaneHead[]) => {
    for (const head of heads) {
      const hint = hints.get(head.laneId)
      if (!hint) continue
      const since = hint.arrivals - (before.get(hint) ?? 0)
      before.delete(hint)
      noteHead(hint, head, { since, maxCount })
      onChange.entered(hint)
    }
    for (const [hint, arrivals] of before) {
      hint.isRefreshPending = false
      if (hint.arrivals !== arrivals || !hint.mayHaveWork) continue
      noteEmpty(hint)
      onChange.emptied(hint)
    }
  }
  return { maxCount, apply }
}

/** `since`: number of arrivals since the read started. */
function noteHead(
  hint: LaneHint,
  { rank, pos, depth }: LaneHead,
  { since, maxCount }: { readonly since: number; readonly maxCount: number },
): void {
  hint.isRefreshPending = false
  const counted = depth < maxCount ? depth + since : Number.POSITIVE_INFINITY
  // What could not be counted on arrival since then still cannot.
  const expected = since > 0 ? Math.max(counted, hint.expected) : counted
  noteEntered(hint, { rank, pos })
  hint.expected = expected
  hint.headRank = rank
}
