/** A gate's room as derived under its lock: never a counter that could drift. */
export interface GateRoom {
  readonly id: number
  readonly capacity: number
  readonly holders: number
}

export interface Candidate {
  readonly runId: number
  /** All gates the run must pass; it takes all of them or none. */
  readonly gates: readonly number[]
}

export interface Admission {
  readonly admitted: readonly number[]
  /** Runs that stay, each with the first gate that had no room. */
  readonly waiting: readonly { readonly runId: number; readonly gate: number }[]
}

/**
 * Decides who passes, in the order given. A run takes all its gates or none, so two runs can never
 * hold half of what the other needs. A gate missing from `rooms` could not be locked: it has no room.
 */
export function admit(candidates: readonly Candidate[], rooms: readonly GateRoom[]): Admission {
  const free = new Map(rooms.map((room) => [room.id, room.capacity - room.holders]))
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
