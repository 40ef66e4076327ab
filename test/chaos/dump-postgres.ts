import pg from 'pg'
import { toDump, type RunRow } from './dump.ts'
import type { Dump } from './history.ts'

const NUMBERS = [pg.types.builtins.INT8, pg.types.builtins.INT4, pg.types.builtins.INT2]

/** Adds triggers to the database that record every end of a run and every later change to one. */
export async function recordEndsInPostgres(url: string): Promise<void> {
  await withClient(url, (client) =>
    client.query(`
      CREATE TABLE chaos_end (
        seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        run_id bigint NOT NULL, state smallint NOT NULL);
      CREATE FUNCTION chaos_note() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO punctual.chaos_end (run_id, state)
        VALUES (coalesce(NEW.run_id, OLD.run_id), coalesce(NEW.state, OLD.state));
        RETURN NULL;
      END $$;
      CREATE TRIGGER chaos_note AFTER INSERT OR UPDATE OR DELETE ON run_end
        FOR EACH ROW EXECUTE FUNCTION chaos_note();`),
  )
}

export async function unfinishedInPostgres(url: string): Promise<number> {
  const count = `SELECT count(*)::int AS count FROM run
                  WHERE NOT EXISTS (SELECT FROM run_end WHERE run_id = run.id)`
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ count: number }>(count)
    return rows[0]?.count ?? 0
  })
}

export async function dumpPostgres(url: string): Promise<Dump> {
  return withClient(url, async (client) => {
    const rows = async <Row extends object>(sql: string) => (await client.query<Row>(sql)).rows
    const leftovers: Record<string, number> = {}
    for (const table of [
      'gate WHERE held <> 0',
      'ready',
      'lease',
      'timer',
      'blocked',
      'awaited',
      'told',
      'need',
    ]) {
      const [row] = await rows<{ count: number }>(`SELECT count(*)::int AS count FROM ${table}`)
      leftovers[table] = row?.count ?? 0
    }
    return toDump({
      runs: await rows<RunRow>(`
        SELECT run.id, e.fence, e.cause, run.input, e.result,
               coalesce(e.state, (SELECT 0 FROM ready WHERE run_id = run.id),
                        (SELECT 1 FROM lease WHERE run_id = run.id),
                        (SELECT 2 FROM timer WHERE run_id = run.id),
                        (SELECT 3 FROM blocked WHERE run_id = run.id),
                        (SELECT 1 FROM flow WHERE run_id = run.id AND ended_at IS NULL),
                        -1) AS state
          FROM run LEFT JOIN run_end e ON e.run_id = run.id ORDER BY run.id`),
      ends: await rows(`SELECT run_id AS id, state FROM chaos_end ORDER BY seq`),
      attempts: await rows(`SELECT run_id AS id, fence, cause FROM attempt`),
      leftovers,
    })
  })
}

/** Queries the database without product code; integers come as numbers. */
export async function withClient<T>(
  url: string,
  use: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  for (const type of NUMBERS) client.setTypeParser(type, Number)
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query('SET search_path TO punctual')
    return await use(client)
  } finally {
    await client.end()
  }
}
