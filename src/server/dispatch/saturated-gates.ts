/** How long a gate that turned somebody away is thought to be full. */
const REMEMBERED_MS = 25

/**
 * Gates at which runs had to wait a moment ago. A hint: a run that is promised to a worker and then
 * held up at a gate keeps that worker's slot empty for a tick, so while a gate is thought to be full
 * nobody is promised past it. It passes by admission, and is claimed like any other.
 */
export interface Jams {
  /** A run had to wait before one of these. */
  met(gates: readonly number[], mono: number): void
  isFree(gates: readonly number[], mono: number): boolean
}

export function createJams(): Jams {
  const until = new Map<number, number>()
  return {
    met(gates, mono) {
      // In the order of their time, so that the oldest are in front.
      for (const gate of gates) {
        until.delete(gate)
        until.set(gate, mono + REMEMBERED_MS)
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
