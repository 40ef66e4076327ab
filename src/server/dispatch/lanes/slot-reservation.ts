import type { LaneHint } from './lane-hint.ts'

/** A worker reserves its slots until they are enough for a run of the lane. */
export interface SlotReservation {
  readonly session: number
  readonly untilMono: number
}

/** A worker's running work may take for ever: after this time another worker may try. */
const RESERVATION_MS = 10_000

/**
 * It is the lane's turn, and its runs need more slots than this worker has free. One worker at a
 * time reserves its slots, so that lighter runs cannot take every slot as it becomes free; the
 * others go on. Returns whether this session reserves its slots for the lane's heavy run.
 */
export function reservesSlots(hint: LaneHint, session: number, mono: number): boolean {
  const { reservation } = hint
  if (reservation?.session === session) return true
  if (reservation && reservation.untilMono > mono) return false
  hint.reservation = { session, untilMono: mono + RESERVATION_MS }
  return true
}
