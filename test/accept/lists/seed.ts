import Database from 'better-sqlite3'
import pg from 'pg'
import { idAtMs } from '../../../src/core/ids.ts'
import { openPostgresStore } from '../../../src/store/postgres/store.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import type { Store } from '../../../src/store/port.ts'

/** Every second run has a tag, and every hundredth failed. */
const SPACING = 4_096

async function namesIn(store: Store) {
  const [project] = await store.internProjects(['default'])
  const [job] = await store.internJobs([{ projectId: project as number, name: 'seeded' }])
  const lane = { project: 'default', queue: 'default', labels: [], executor: 'shell', weight: 1 }
  const [laneId] = await store.internLanes([lane])
  return { project, job, lane: laneId }
}

/** Writes a history of ended runs directly into the tables, which is faster than running them. */
export async function seedSqlite(path: string, count: number): Promise<void> {
  const store = await openSqliteStore({ path, durability: 'normal' })
  const names = await namesIn(store)
  await store.close()
  const db = new Database(path)
  const newest = idAtMs(Date.now() - 60_000)
  const at = Date.now() - 60_000
  db.exec('BEGIN')
  db.prepare(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)
     INSERT INTO run (id, status, project_id, job_id, lane_id, rank, pos, minted_by, created_at,
                      fence, started_at, finished_at, worker, tags, input)
     SELECT :newest - i * ${SPACING}, CASE WHEN i % 100 = 0 THEN 5 ELSE 4 END, :project, :job, :lane, 0,
            :newest - i * ${SPACING}, 1, :at, 1, :at, :at, 'w-1',
            CASE WHEN i % 2 = 0 THEN '{"a":"x"}' END, '{"n":1}' FROM n`,
  ).run({ ...names, count, newest, at })
  db.prepare(
    `INSERT INTO run_tag (project_id, name, value, run_id)
     SELECT project_id, 'a', 'x', id FROM run WHERE tags IS NOT NULL ORDER BY id`,
  ).run()
  db.exec('COMMIT')
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
}

export async function seedPostgres(url: string, count: number): Promise<void> {
  const store = await openPostgresStore({ url })
  const { project, job, lane } = await namesIn(store)
  // Creates this week's partitions, which a store without any generated id does not have.
  await store.maintain({ mayDelete: false })
  await store.close()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const newest = idAtMs(Date.now() - 60_000)
  const at = Date.now() - 60_000
  await client.query('SET search_path TO punctual')
  const id = `${newest} - i::bigint * ${SPACING}`
  await client.query(
    `INSERT INTO run (id, created_at, project_id, job_id, lane_id, minted_by, rank, tags, input)
     SELECT ${id}, ${at}, ${project}, ${job}, ${lane}, 1, 0,
            CASE WHEN i % 2 = 0 THEN '{"a":"x"}' END, '{"n":1}' FROM generate_series(1, ${count}) i`,
  )
  await client.query(
    `INSERT INTO run_end (run_id, fence, started_at, finished_at, project_id, attempt, lost, state, worker)
     SELECT ${id}, 1, ${at}, ${at}, ${project}, 1, 0, CASE WHEN i % 100 = 0 THEN 5 ELSE 4 END, 'w-1'
       FROM generate_series(1, ${count}) i`,
  )
  await client.query(
    `INSERT INTO run_tag SELECT ${project}, 'a', 'x', ${id} FROM generate_series(2, ${count}, 2) i`,
  )
  await client.query('VACUUM ANALYZE')
  await client.end()
}
