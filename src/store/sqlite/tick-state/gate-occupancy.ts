import type { GateCapacity } from '../../../core/queue/gate.ts'

/**
 * What one transaction knows about gates: their occupancy when first read, the changes it has made
 * since, and whether runs wait at them. The changes are written at its end: one row per gate,
 * however many runs entered and left.
 */
export interface GateOccupancy {
  /** `read` is called only for a gate that was not read before. */
  of(gate: number, read: (gate: number) => GateCapacity | undefined): GateCapacity
  hasWaiting(gate: number, look: (gate: number) => boolean): boolean
  took(gate: number): void
  left(gate: number, runs?: number): void
  /** The change of each gate's holder count; resets the changes. */
  takeChanges(): [gate: number, by: number][]
}

interface KnownGate extends GateCapacity {
  holders: number
}

export function createGateOccupancy(): GateOccupancy {
  const occupancy = new Map<number, KnownGate>()
  const lines = new Map<number, boolean>()
  const changes = new Map<number, number>()
  const change = (gate: number, by: number) => {
    changes.set(gate, (changes.get(gate) ?? 0) + by)
    const room = occupancy.get(gate)
    if (room) room.holders += by
  }
  return {
    of(gate, read) {
      let room = occupancy.get(gate)
      if (!room) {
        room = { ...(read(gate) ?? { id: gate, capacity: 0, holders: 0 }) }
        room.holders += changes.get(gate) ?? 0
        occupancy.set(gate, room)
      }
      return room
    },
    hasWaiting(gate, look) {
      let hasWaiting = lines.get(gate)
      if (hasWaiting === undefined) {
        hasWaiting = look(gate)
        lines.set(gate, hasWaiting)
      }
      return hasWaiting
    },
    took: (gate) => change(gate, 1),
    left: (gate, runs = 1) => change(gate, -runs),
    takeChanges() {
      const all = [...changes].filter(([, by]) => by !== 0)
      changes.clear()
      return all
    },
  }
}
