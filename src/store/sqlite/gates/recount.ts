import type { Database } from 'better-sqlite3'

/** Counting more ready runs would delay other work; a later sweep counts once there are fewer. */
const MAX_READY = 2_000

export const READY_UP_TO = `SELECT count(*) FROM (SELECT 1 FROM run WHERE status = 0 LIMIT ?)`
export const HOLDERS = `
  SELECT value AS gate, count(*) AS held FROM (
    SELECT gates FROM run WHERE status = 1 AND gates IS NOT NULL
     UNION ALL
    SELECT gates FROM run WHERE status = 0 AND gates IS NOT NULL), json_each(gates)
   GROUP BY value`
export const COUNTED = `SELECT held FROM gate WHERE id = ?`
export const CORRECT = `UPDATE gate SET held = ? WHERE id = ?`

/** Counts the runs that hold these gates, and returns the gates whose stored count was wrong. */
export type Recount = (gates: ReadonlySet<number>) => number[]

/**
 * A gate's count changes together with the runs it counts, so this finds nothing. If it ever did,
 * runs would wait for a slot that no run holds, for ever.
 */
export function prepareRecount(db: Database): Recount {
  const readyUpTo = db.prepare<[number], number>(READY_UP_TO).pluck()
  const holders = db.prepare<[], { gate: number; held: number }>(HOLDERS)
  const counted = db.prepare<[number], number>(COUNTED).pluck()
  const correct = db.prepare(CORRECT)

  return (gates) => {
    if (gates.size === 0 || (readyUpTo.get(MAX_READY) ?? 0) === MAX_READY) return []
    const held = new Map(holders.all().map((row) => [row.gate, row.held]))
    const wrong = [...gates].filter((gate) => counted.get(gate) !== (held.get(gate) ?? 0))
    for (const gate of wrong) correct.run(held.get(gate) ?? 0, gate)
    return wrong
  }
}
