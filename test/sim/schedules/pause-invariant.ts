import type { Database } from 'better-sqlite3'

/** A change by a user, as it was stored and acknowledged. */
interface Change {
  readonly n: number
  readonly spec: string
  readonly at: number
  readonly isPaused: number
  readonly pausedUntil: number | null
  /** The simulated time of the change: clocks of nodes may disagree about it. */
  readonly real: number
}

/** A due time that became a run, and the last change by a user before it. */
export interface RunRecorded {
  readonly schedule_id: number
  readonly nominal_at: number
  readonly at: number
  readonly after: number
  readonly real: number
}

const CHANGES = `
  SELECT n, spec, at, is_paused AS isPaused, paused_until AS pausedUntil, real
    FROM changed WHERE id = ? AND n <= ? ORDER BY n`
const LAST_CHANGE = `SELECT ifnull(max(n), 0) FROM changed`

/** A schedule starts no run while it is paused, and none later for a time within the pause. */
export interface PauseInvariant {
  /** Call after every move. */
  observeClock(): void
  check(recorded: RunRecorded): void
}

export function createPauseInvariant(
  db: Database,
  deps: { skewMs(): number; violate(invariant: string, detail: string): void },
): PauseInvariant {
  const changes = db.prepare<[number, number], Change>(CHANGES)
  const lastChange = db.prepare<[], number>(LAST_CHANGE).pluck()
  const rewoundUpTo = db.prepare<[number], number>('SELECT up_to FROM rewound WHERE id = ?').pluck()
  let skewMs = deps.skewMs()
  /** A clock that is set back reaches again times at which the schedule was paused before. */
  let setBackUpTo = 0

  return {
    observeClock() {
      if (deps.skewMs() < skewMs) setBackUpTo = lastChange.get() ?? 0
      skewMs = deps.skewMs()
    },
    check({ schedule_id: id, nominal_at: nominalAt, at, after, real }) {
      const history = changes.all(id, after)
      // Nodes notice a clock that was set back one after the other.
      const ignoredUpTo = Math.max(setBackUpTo, rewoundUpTo.get(id) ?? 0)
      const detail = `schedule ${id} at ${nominalAt}, written at ${at}`
      const last = history.at(-1)
      // The pause may have ended by a clock that was ahead and has been set back since.
      const isEnded = at >= (last?.pausedUntil ?? 0) || (last?.n ?? 0) <= ignoredUpTo
      const isOver = last?.pausedUntil != null && isEnded
      if (last?.isPaused && !isOver) deps.violate('I16 a run while it is paused', detail)
      // An edit of the rule defines new times.
      const lastRuleChange = history.findLastIndex(
        ({ spec }, index) => history[index - 1]?.spec !== spec,
      )
      for (const [index, change] of history.entries()) {
        if (!change.isPaused || index < lastRuleChange || change.n <= ignoredUpTo) continue
        const next = history[index + 1]
        // A repeated pause sets a new end; the request may arrive when that has passed. A node whose clock
        // is ahead or behind stamps a change differently than the clock by which the run was fired: a time
        // counts as paused only if it was by both clocks.
        const byBoth = (one: Change) => [one.at, one.real + (at - real)]
        const changedAt = history.slice(index + 1).flatMap(byBoth)
        const ends = [change.pausedUntil, ...changedAt, next?.isPaused ? next.pausedUntil : null]
        const untilAt = Math.min(...ends.map((end) => end ?? Number.POSITIVE_INFINITY))
        if (nominalAt > Math.max(...byBoth(change)) && nominalAt < untilAt) {
          deps.violate('I16 a run for a time at which it was paused', detail)
        }
      }
    },
  }
}
