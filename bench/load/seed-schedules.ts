import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { encodeSpec } from '../../src/core/schedule/firing/schedule-spec.ts'
import { idAtMs } from '../../src/core/ids.ts'
import { LIMITS } from '../../src/core/limits.ts'

/** Schedules with default settings, the maximum number per job. */
export interface ScheduleSeed {
  readonly count: number
  /** In UTC. */
  readonly cron: string
  /** The next fire time of the rule. */
  readonly nextAt: number
  /** Prefix of the job names, which are numbered from 0. */
  readonly prefix: string
}

const PER_JOB = LIMITS.schedules
const DAY_MS = 24 * 3_600_000
let seedings = 0

export function seededJobNames(prefix: string, count: number): string[] {
  return Array.from({ length: Math.ceil(count / PER_JOB) }, (_, index) => prefix + index)
}

/**
 * Inserts schedules by SQL into a closed store whose first project exists, a million within seconds.
 * Their ids carry timestamps of past days, so no node can generate the same ids.
 */
export async function seedSchedules(store: string, planting: ScheduleSeed): Promise<void> {
  const { count, cron, nextAt, prefix } = planting
  seedings += 1
  const now = Date.now()
  const firstId = idAtMs(now - seedings * DAY_MS)
  const jobs = JSON.stringify(seededJobNames(prefix, count))
  const spec = encodeSpec({ rule: { cron } })
  if (store.startsWith('sqlite:')) {
    seedSqlite(store.slice('sqlite:'.length), jobs, { count, firstId, prefix, nextAt, spec, now })
  } else await seedPostgres(store, jobs, [count, firstId, prefix, nextAt, spec, now])
}

function seedSqlite(path: string, jobs: string, values: object): void {
  const db = new Sqlite(path)
  db.prepare(`INSERT INTO job (project_id, name) SELECT 1, value FROM json_each(?)`).run(jobs)
  db.prepare(`
    WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < :count - 1)
    INSERT INTO schedule (id, project_id, job_id, name, version, next_nominal_at, look_at,
                          created_at, updated_at, spec)
    SELECT :firstId + i, 1, job.id, 'rule-' || i, 1, :nextAt, :nextAt, :now, :now, :spec
      FROM n JOIN job ON job.project_id = 1 AND job.name = :prefix || (n.i / ${PER_JOB})`).run(
    values,
  )
  db.close()
}

async function seedPostgres(
  url: string,
  jobs: string,
  values: readonly (number | string)[],
): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(
    `INSERT INTO punctual.job (project_id, name) SELECT 1, * FROM json_array_elements_text($1)`,
    [jobs],
  )
  await client.query(
    `WITH fresh AS (
       INSERT INTO punctual.schedule (id, project_id, job_id, name, created_at, updated_at, spec)
       SELECT $2::bigint + i, 1, job.id, 'rule-' || i, $6::bigint, $6, $5::text
         FROM generate_series(0, $1::int - 1) AS i
         JOIN punctual.job ON project_id = 1 AND job.name = $3::text || (i / ${PER_JOB})
       RETURNING id)
     INSERT INTO punctual.schedule_next (schedule_id, nominal_at, look_at, version)
     SELECT id, $4::bigint, $4, 1 FROM fresh`,
    [...values],
  )
  await client.query('VACUUM ANALYZE punctual.schedule, punctual.schedule_next')
  await client.end()
}
