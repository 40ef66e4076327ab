import { connect } from '../../../src/client/index.ts'
import { CHAOS_TOKEN } from '../server-processes.ts'
import { withClient } from '../dump-postgres.ts'

const JOB = 'tick'
/** Workers serve this job: its times fire ahead and reach the workers at their instant. */
export const HANDLED_JOB = 'tock'
/** The overlap rules; runs of the first job never end. */
const MODELS: readonly (readonly [job: string, overlap: string])[] = [
  [JOB, 'allow'],
  [JOB, 'skip'],
  [JOB, 'queue(2)'],
  [JOB, 'replace'],
  [HANDLED_JOB, 'queue(3)'],
]

/** Copies all schedules at one instant, each from one of the existing ones in turn. */
const COPY = `
  WITH clock AS (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now),
  model AS (
    SELECT *, row_number() OVER (ORDER BY id) - 1 AS place, count(*) OVER () AS models,
           max(id) OVER () AS newest
      FROM schedule WHERE deleted_at IS NULL),
  copy AS (
    INSERT INTO schedule (id, project_id, job_id, name, spec, created_at, updated_at)
    SELECT newest + n, project_id, job_id, name || '-' || n, spec, now, now
      FROM clock CROSS JOIN generate_series(1, $1::int) n JOIN model ON place = n % models
    RETURNING id, (created_at / 1000 + 1) * 1000 AS first)
  INSERT INTO schedule_next (schedule_id, version, nominal_at, look_at)
  SELECT id, 1, first, first FROM copy`

/**
 * Creates `schedules` schedules that fire every second. The product creates one of each kind and the database
 * copies them, because a thousand requests would take too long. The originals are deleted.
 */
export async function createSchedules(
  urls: readonly string[],
  storeUrl: string,
  { schedules, onlyHandled = false }: { schedules: number; onlyHandled?: boolean | undefined },
): Promise<void> {
  const models = MODELS.filter(([job]) => job === HANDLED_JOB || !onlyHandled)
  const client = connect({ url: urls, token: CHAOS_TOKEN })
  try {
    await makeJob(urls[0] as string, JOB, { run: 'true' })
    await makeJob(urls[0] as string, HANDLED_JOB, {})
    for (const [job, overlap] of models) {
      await client.schedules.put(job, nameOf(overlap), { every: '1s', overlap })
    }
    await withClient(storeUrl, (database) => database.query(COPY, [schedules]))
    for (const [job, overlap] of models) await client.schedules.delete(job, nameOf(overlap))
  } finally {
    await client.close()
  }
}

async function makeJob(url: string, name: string, definition: object): Promise<void> {
  const headers = { authorization: `Bearer ${CHAOS_TOKEN}`, 'content-type': 'application/json' }
  const body = JSON.stringify(definition)
  const answer = await fetch(`${url}/v1/jobs/${name}`, { method: 'PUT', headers, body })
  if (!answer.ok) throw new Error(`no job: ${answer.status} ${await answer.text()}`)
}

function nameOf(overlap: string): string {
  return overlap.replace(/\W.*/, '')
}
