import type pg from 'pg'

interface Invariant {
  readonly invariant: string
  /** A query for violating rows; `$1`, if used, is the last time to check. */
  readonly breakers: string
}

/** Each schedule was to fire at every whole second since it was created. */
const EVERY_SECOND = `
  SELECT schedule.id AS schedule_id, time
    FROM schedule, generate_series((created_at / 1000 + 1) * 1000, $1::bigint, 1000) time
   WHERE deleted_at IS NULL`
const OF_THESE = `schedule_id IN (SELECT id FROM schedule WHERE deleted_at IS NULL)`
/** Outcomes that are runs: fired, delayed, blocked. */
const IS_RUN = `outcome <= 2`
/** A range that was cut short because the clock was set back: its times are not counted. */
const IS_CUT = `
  count IS NULL AND EXISTS (
    SELECT 1 FROM void_occurrence v
     WHERE v.schedule_id = occurrence.schedule_id AND v.voided_at >= occurrence.until_at)`

const INVARIANTS: readonly Invariant[] = [
  {
    invariant: 'every due time has exactly one outcome',
    breakers: `
      WITH expected AS (${EVERY_SECOND}),
      recorded AS (
        SELECT schedule_id, time, count(*) AS stats
          FROM occurrence, generate_series(nominal_at, until_at, 1000) time
         WHERE ${OF_THESE} AND time <= $1::bigint GROUP BY schedule_id, time)
      SELECT format('schedule %s at %s has %s', schedule_id, time, coalesce(stats, 0)) AS what
        FROM expected FULL JOIN recorded USING (schedule_id, time)
       WHERE stats IS DISTINCT FROM 1`,
  },
  {
    invariant: 'no record exists for an instant that is not due',
    breakers: `
      SELECT format('schedule %s at %s', schedule_id, nominal_at) AS what
        FROM occurrence JOIN schedule ON schedule.id = schedule_id
       WHERE deleted_at IS NULL
         AND (nominal_at % 1000 <> 0 OR nominal_at <= created_at OR until_at < nominal_at)`,
  },
  {
    invariant: 'a range says how many times it stands for',
    breakers: `
      SELECT format('schedule %s from %s says %s', schedule_id, nominal_at, count) AS what
        FROM occurrence
       WHERE ${OF_THESE}
         AND count IS DISTINCT FROM (until_at / 1000 - nominal_at / 1000 + 1)
         AND NOT (${IS_CUT})`,
  },
  {
    invariant: 'what did not simply fire has a reason',
    breakers: `
      SELECT format('schedule %s at %s', schedule_id, nominal_at) AS what
        FROM occurrence WHERE outcome > 0 AND reason IS NULL`,
  },
  {
    invariant: 'a fired time is exactly one run with that due time',
    breakers: `
      SELECT format('schedule %s at %s, run %s due at %s', schedule_id, nominal_at, run.id, due_at)
               AS what
        FROM occurrence LEFT JOIN run USING (id)
       WHERE ${IS_RUN}
         AND (due_at IS DISTINCT FROM nominal_at OR until_at <> nominal_at)`,
  },
  {
    invariant: 'a run stands for one time',
    breakers: `
      SELECT format('run %s, of %s', id, count(*)) AS what
        FROM (SELECT id FROM occurrence WHERE ${IS_RUN}
               UNION ALL SELECT id FROM void_occurrence WHERE ${IS_RUN}) fired
       GROUP BY id HAVING count(*) > 1`,
  },
  {
    invariant: 'every run belongs to a due time',
    breakers: `
      SELECT format('run %s due at %s', run.id, due_at) AS what
        FROM run LEFT JOIN (
               SELECT id, nominal_at FROM occurrence WHERE ${IS_RUN}
                UNION ALL SELECT id, nominal_at FROM void_occurrence WHERE ${IS_RUN}) fired USING (id)
       WHERE nominal_at IS NULL`,
  },
  {
    invariant: 'a schedule goes forward only',
    breakers: `
      SELECT format('schedule %s at %s, written %s ms before the one before', schedule_id,
                    nominal_at, before - at) AS what
        FROM (SELECT *, lag(at) OVER (PARTITION BY schedule_id ORDER BY nominal_at) AS before
                FROM occurrence WHERE NOT (${IS_CUT})) one
       WHERE before > at`,
  },
  {
    invariant: 'the next time is the first one without a record',
    breakers: `
      SELECT format('schedule %s comes to %s', schedule_id, nominal_at) AS what
        FROM schedule_next next
       WHERE ${OF_THESE}
         AND nominal_at IS DISTINCT FROM (
               SELECT max(until_at) / 1000 * 1000 + 1000 FROM occurrence
                WHERE occurrence.schedule_id = next.schedule_id)`,
  },
]

const MAX_SHOWN = 5

/** Violations in a history of schedules that fire every second, up to a time, by plain SQL alone. */
export async function everySecondInvariants(client: pg.Client, untilMs: number): Promise<string[]> {
  const violations: string[] = []
  for (const { invariant, breakers } of INVARIANTS) {
    const values = breakers.includes('$1') ? [untilMs] : []
    const { rows } = await client.query<{ what: string }>(breakers, values)
    for (const { what } of rows.slice(0, MAX_SHOWN)) violations.push(`${invariant}: ${what}`)
    const more = rows.length - MAX_SHOWN
    if (more > 0) violations.push(`${invariant}: and ${more} more`)
  }
  return violations
}
