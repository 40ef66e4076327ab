import type { GateRoom } from '../../../core/queue/gate.ts'

/**
 * What one transaction knows of gates: their rooms as they were when first asked for, what it has
 * changed about them since, and who has a line before it. The changes are written when it is done:
 * one row a gate, however many runs came and went.
 */
export interface Rooms {
  /** `read` is asked only for a gate nobody looked at before. */
  of(gate: number, read: (gate: number) => GateRoom | undefined): GateRoom
  hasLine(gate: number, look: (gate: number) => boolean): boolean
  took(gate: number): void
  left(gate: number, runs?: number): void
  /** How many more hold each gate than before; forgotten by asking. */
  takeChanges(): [gate: number, by: number][]
}

interface Known extends GateRoom {
  holders: number
}

export function createRooms(): Rooms {
  const rooms = new Map<number, Known>()
  const lines = new Map<number, boolean>()
  const changes = new Map<number, number>()
  const change = (gate: number, by: number) => {
    changes.set(gate, (changes.get(gate) ?? 0) + by)
    const room = rooms.get(gate)
    if (room) room.holders += by
  }
  return {
    of(gate, read) {
      let room = rooms.get(gate)
      if (!room) {
        room = { ...(read(gate) ?? { id: gate, capacity: 0, holders: 0 }) }
        room.holders += changes.get(gate) ?? 0
        rooms.set(gate, room)
      }
      return room
    },
    hasLine(gate, look) {
      let hasLine = lines.get(gate)
      if (hasLine === undefined) {
        hasLine = look(gate)
        lines.set(gate, hasLine)
      }
      return hasLine
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
