import type { Database } from 'better-sqlite3'

/** A change by people, as it was written down: what they were told was so. */
interface Change {
  readonly n: number
  readonly spec: string
  readonly at: number
  readonly isPaused: number
  readonly pausedUntil: number | null
}

/** A record that a time became a run, and the last change by people before it. */
export interface RunRecorded {
  readonly schedule_id: number
  readonly nominal_at: number
  readonly at: number
  readonly after: number
}

const CHANGES = `
  SELECT n, spec, at, is_paused AS isPaused, paused_until AS pausedUntil
    FROM changed WHERE id = ? AND n <= ? ORDER BY n`
const LAST_CHANGE = `SELECT ifnull(max(n), 0) FROM changed`

/** No run while a schedule is paused, nor afterwards for a time at which it was. */
export interface PauseLaw {
  /** To be called after every move. */
  look(): void
  check(recorded: RunRecorded): void
}

export function createPauseLaw(
  db: Database,
  deps: { skewMs(): number; violate(law: string, detail: string): void },
): PauseLaw {
  const changes = db.prepare<[number, number], Change>(CHANGES)
  const lastChange = db.prepare<[], number>(LAST_CHANGE).pluck()
  let skewMs = deps.skewMs()
  /** A clock that was set back shows times once more at which it was paused before. */
  let forgottenUpTo = 0

  return {
    look() {
      if (deps.skewMs() < skewMs) forgottenUpTo = lastChange.get() ?? 0
      skewMs = deps.skewMs()
    },
    check({ schedule_id: id, nominal_at: nominalAt, at, after }) {
      const story = changes.all(id, after)
      const detail = `schedule ${id} at ${nominalAt}, written at ${at}`
      const last = story.at(-1)
      const isOver = last?.pausedUntil != null && at >= last.pausedUntil
      if (last?.isPaused && !isOver) deps.violate('I16 a run while it is paused', detail)
      // An edit says anew which times there are.
      const said = story.findLastIndex(({ spec }, index) => story[index - 1]?.spec !== spec)
      for (const [index, change] of story.entries()) {
        if (!change.isPaused || index < said || change.n <= forgottenUpTo) continue
        const next = story[index + 1]
        // Who pauses it anew says how long it is paused; a request may arrive when that is over.
        const ends = [change.pausedUntil, next?.at, next?.isPaused ? next.pausedUntil : null]
        const untilAt = Math.min(...ends.map((end) => end ?? Number.POSITIVE_INFINITY))
        if (nominalAt > change.at && nominalAt < untilAt) {
          deps.violate('I16 a run for a time at which it was paused', detail)
        }
      }
    },
  }
}
