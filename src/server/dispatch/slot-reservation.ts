import type { LaneHint } from './lane-index.ts'

/** A worker keeps its room until it is enough for a run of the lane. */
export interface Hold {
  readonly session: number
  readonly untilMono: number
}

/** What it has under way may take for ever: after this, another worker may try. */
const HOLD_MS = 10_000

/**
 * It is the lane's turn and its runs are heavier than what this worker has free. One worker at a
 * time keeps its room for it, so that lighter runs cannot fill every slot as it becomes free; the
 * others go on. Says whether this is the one.
 */
export function holdsRoom(hint: LaneHint, session: number, mono: number): boolean {
  const { hold } = hint
  if (hold?.session === session) return true
  if (hold && hold.untilMono > mono) return false
  hint.hold = { session, untilMono: mono + HOLD_MS }
  return true
}
