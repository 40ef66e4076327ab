/** The free slots of a gate, computed while it is locked: there is no counter that could drift. */
export interface GateCapacity {
  readonly id: number
  readonly capacity: number
  readonly holders: number
}

export interface Candidate {
  readonly runId: number
  /** All gates that the run must pass; it takes all of them or none. */
  readonly gates: readonly number[]
}

export interface Admission {
  readonly admitted: readonly number[]
  /** Runs that wait, each with its first gate without a free slot. */
  readonly waiting: readonly { readonly runId: number; readonly gate: number }[]
}

/**
 * Decides which runs are admitted, in the given order. A run takes all its gates or none, so two runs can never each
 * hold a gate that the other one needs. A gate missing from `capacities` could not be locked and has no free slots.
 */
export function admit(
  candidates: readonly Candidate[],
  capacities: readonly GateCapacity[],
): Admission {
  const free = new Map(capacities.map((gate) => [gate.id, gate.capacity - gate.holders]))
  const admitted: number[] = []
  const waiting: { runId: number; gate: number }[] = []
  for (const { runId, gates } of candidates) {
    const full = gates.find((gate) => (free.get(gate) ?? 0) <= 0)
    if (full !== undefined) {
      waiting.push({ runId, gate: full })
      continue
    }
    for (const gate of gates) free.set(gate, (free.get(gate) ?? 0) - 1)
    admitted.push(runId)
  }
  return { admitted, waiting }
}
