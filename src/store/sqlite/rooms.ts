import type { GateRoom } from '../../core/gate.ts'

/**
 * What one transaction knows of gates: their rooms, counted from the holders when first asked for and
 * kept in step with what it does since, and who has a line before it.
 */
export interface Rooms {
  /** `count` is asked only for a gate nobody looked at before. */
  of(gate: number, count: (gate: number) => GateRoom | undefined): GateRoom
  hasLine(gate: number, look: (gate: number) => boolean): boolean
  took(gate: number): void
  left(gate: number, runs?: number): void
}

interface Known extends GateRoom {
  holders: number
}

export function createRooms(): Rooms {
  const rooms = new Map<number, Known>()
  const lines = new Map<number, boolean>()
  const change = (gate: number, by: number) => {
    const room = rooms.get(gate)
    if (room) room.holders += by
  }
  return {
    of(gate, count) {
      let room = rooms.get(gate)
      if (!room) {
        room = { ...(count(gate) ?? { id: gate, capacity: 0, holders: 0 }) }
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
  }
}
