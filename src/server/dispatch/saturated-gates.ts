/** How long a gate counts as saturated after it blocked a run. */
const SATURATED_MS = 25

/**
 * Gates at which runs had to wait a moment ago. A hint: a promised run that is blocked at a gate
 * keeps its worker's slot empty for one tick, so no run is assigned directly past a saturated gate.
 * It is admitted and then claimed like any other.
 */
export interface SaturatedGates {
  /** A run had to wait at one of these gates. */
  noteBlocked(gates: readonly number[], mono: number): void
  isFree(gates: readonly number[], mono: number): boolean
}

export function createSaturatedGates(): SaturatedGates {
  const until = new Map<number, number>()
  return {
    noteBlocked(gates, mono) {
      // Reinserted in order of time, so the oldest are in front.
      for (const gate of gates) {
        until.delete(gate)
        until.set(gate, mono + SATURATED_MS)
      }
      for (const [gate, end] of until) {
        if (end > mono) break
        until.delete(gate)
      }
    },
    isFree: (gates, mono) =>
      until.size === 0 || gates.every((gate) => (until.get(gate) ?? 0) <= mono),
  }
}
