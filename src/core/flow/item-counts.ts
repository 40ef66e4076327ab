import type { StepState } from '../run/step-state.ts'

/** How many items of a fan-out are in which state. */
export type ItemCounts = Readonly<Record<StepState | 'untouched', number>>

const NONE = { running: 0, waiting: 0, succeeded: 0, failed: 0, cancelled: 0, skipped: 0 }

/** Of a fan-out to `total` items: those that nobody counted have not been reached. */
export function itemCounts(
  total: number,
  counted: Iterable<{ readonly state: StepState; readonly count: number }>,
): ItemCounts {
  const counts = { ...NONE }
  let untouched = total
  for (const { state, count } of counted) {
    counts[state] += count
    untouched -= count
  }
  return { ...counts, untouched }
}
