import type pg from 'pg'

interface Law {
  readonly law: string
  /** What breaks it; `$1`, where it is asked for, is the last time that is judged. */
  readonly breakers: string
}

/** Each of the schedules that are there was to fire at every whole second since it was made. */
const EVERY_SECOND = `
  SELECT schedule.id AS schedule_id, time
    FROM schedule, generate_series((created_at / 1000 + 1) * 1000, $1::bigint, 1000) time
   WHERE deleted_at IS NULL`
const OF_THESE = `schedule_id IN (SELECT id FROM schedule WHERE deleted_at IS NULL)`
/** Outcomes that are runs: fired, delayed, blocked. */
const IS_RUN = `outcome <= 2`

const LAWS: readonly Law[] = [
  {
    law: 'every time has exactly one fate',
    breakers: `
      WITH expected AS (${EVERY_SECOND}),
      told AS (
        SELECT schedule_id, time, count(*) AS fates
          FROM occurrence, generate_series(nominal_at, until_at, 1000) time
         WHERE ${OF_THESE} AND time <= $1::bigint GROUP BY schedule_id, time)
      SELECT format('schedule %s at %s has %s', schedule_id, time, coalesce(fates, 0)) AS what
        FROM expected FULL JOIN told USING (schedule_id, time)
       WHERE fates IS DISTINCT FROM 1`,
  },
  {
    law: 'nothing is told of a time that is none',
    breakers: `
      SELECT format('schedule %s at %s', schedule_id, nominal_at) AS what
        FROM occurrence JOIN schedule ON schedule.id = schedule_id
       WHERE deleted_at IS NULL
         AND (nominal_at % 1000 <> 0 OR nominal_at <= created_at OR until_at < nominal_at)`,
  },
  {
    law: 'a range says how many times it stands for',
    breakers: `
      SELECT format('schedule %s from %s says %s', schedule_id, nominal_at, count) AS what
        FROM occurrence
       WHERE ${OF_THESE}
         AND count IS DISTINCT FROM (until_at / 1000 - nominal_at / 1000 + 1)`,
  },
  {
    law: 'what did not simply fire has a reason',
    breakers: `
      SELECT format('schedule %s at %s', schedule_id, nominal_at) AS what
        FROM occurrence WHERE outcome > 0 AND reason IS NULL`,
  },
  {
    law: 'a time that fired is one run, and the run of that time',
    breakers: `
      SELECT format('schedule %s at %s, run %s due at %s', schedule_id, nominal_at, run.id, due_at)
               AS what
        FROM occurrence LEFT JOIN run USING (id)
       WHERE ${IS_RUN}
         AND (due_at IS DISTINCT FROM nominal_at OR until_at <> nominal_at)`,
  },
  {
    law: 'a run stands for one time',
    breakers: `
      SELECT format('run %s, of %s', id, count(*)) AS what
        FROM occurrence WHERE ${IS_RUN} GROUP BY id HAVING count(*) > 1`,
  },
  {
    law: 'there is no run but for a time',
    breakers: `
      SELECT format('run %s due at %s', run.id, due_at) AS what
        FROM run LEFT JOIN (SELECT id, nominal_at FROM occurrence WHERE ${IS_RUN}) fired USING (id)
       WHERE nominal_at IS NULL`,
  },
  {
    law: 'a schedule goes forward only',
    breakers: `
      SELECT format('schedule %s at %s, written %s ms before the one before', schedule_id,
                    nominal_at, before - at) AS what
        FROM (SELECT *, lag(at) OVER (PARTITION BY schedule_id ORDER BY nominal_at) AS before
                FROM occurrence) one
       WHERE before > at`,
  },
  {
    law: 'what comes next is the first time that nothing is told of',
    breakers: `
      SELECT format('schedule %s comes to %s', schedule_id, nominal_at) AS what
        FROM schedule_next next
       WHERE ${OF_THESE}
         AND nominal_at IS DISTINCT FROM (
               SELECT max(until_at) / 1000 * 1000 + 1000 FROM occurrence
                WHERE occurrence.schedule_id = next.schedule_id)`,
  },
]

const MOST_SHOWN = 5

/** What is wrong with a history of schedules of every second, up to a time, by plain SQL alone. */
export async function everySecondLaws(client: pg.Client, untilMs: number): Promise<string[]> {
  const violations: string[] = []
  for (const { law, breakers } of LAWS) {
    const values = breakers.includes('$1') ? [untilMs] : []
    const { rows } = await client.query<{ what: string }>(breakers, values)
    for (const { what } of rows.slice(0, MOST_SHOWN)) violations.push(`${law}: ${what}`)
    const more = rows.length - MOST_SHOWN
    if (more > 0) violations.push(`${law}: and ${more} more`)
  }
  return violations
}
