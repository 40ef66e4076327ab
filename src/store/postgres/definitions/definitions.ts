import type { JobRecord, JobStore, JobVersion } from '../../port.ts'
import { addAudit } from '../audit/audit.ts'
import { ints } from '../connection/binary-arrays.ts'
import { internJobs } from '../catalog/catalog.ts'
import { type Database, pickLists } from '../database/database.ts'
import {
  DROP_FOLLOWED,
  internFollowed,
  refuseFollowed,
  setFollowed,
} from '../followers/followers.ts'
import { setHooks } from './hooks.ts'
import { changeSchedulesOfJob, reviseSchedules } from '../schedules/schedules.ts'
import { CLOCK, type Queryable } from '../connection/statement.ts'
import { read, transact } from '../connection/transaction.ts'

type Input<Name extends keyof JobStore> = Parameters<JobStore[Name]>[0]

/** Of two changes of one job at once, the second waits, and then reads what the first did. */
const LOCK = {
  name: 'lock-job',
  text: `SELECT FROM job WHERE project_id = $1::int AND name = $2 FOR UPDATE`,
}
const IN_FORCE = {
  name: 'job-in-force',
  text: `
  SELECT job.id, job.version, job.paused_at IS NOT NULL AS "isPaused",
         (SELECT max(version) FROM job_version WHERE job_id = job.id) AS latest,
         (SELECT definition FROM job_version
           WHERE job_id = job.id AND version = job.version) AS definition
    FROM job WHERE project_id = $1::int AND name = $2`,
}
const ADD_VERSION = {
  name: 'add-job-version',
  text: `
  WITH ${CLOCK},
  added AS (
    INSERT INTO job_version (job_id, version, created_at, created_by, definition)
    SELECT $2::int, $3::int, now, $4::int, $5 FROM clock)
  UPDATE job SET version = $3::int, owner = $6 WHERE id = $2::int`,
}
const DROP_VERSION = {
  name: 'drop-job-version',
  text: `UPDATE job SET version = 0, paused_at = NULL, paused_reason = NULL WHERE id = $1::int`,
}
const SET_PAUSE = {
  name: 'pause-job',
  text: `
  WITH ${CLOCK}
  UPDATE job SET paused_at = CASE WHEN $4::boolean THEN now END, paused_reason = $5
    FROM clock WHERE project_id = $2::int AND name = $3 AND version > 0
  RETURNING id`,
}
export const JOB_COLUMNS = `
  job.id, job.name, job.version, job.paused_at AS "pausedAt", job.paused_reason AS "pausedReason",
  v.definition, v.created_at AS "createdAt", v.created_by AS "createdBy"`
const RECORD = `
  SELECT ${JOB_COLUMNS}
    FROM job JOIN job_version v ON v.job_id = job.id AND v.version = job.version`
const FIND_DEFINITION = {
  name: 'find-definition',
  text: `${RECORD} WHERE job.project_id = $1::int AND job.name = $2`,
}
const DEFINITIONS_AFTER = {
  name: 'definitions-after',
  text: `${RECORD}
   WHERE job.project_id = $1::int AND job.name COLLATE "C" > $2 AND job.version > 0
   ORDER BY job.name COLLATE "C" LIMIT $3::int`,
}
const VERSIONS_BELOW = {
  name: 'job-versions',
  text: `
  SELECT version, definition, created_at AS "createdAt", created_by AS "createdBy"
    FROM job_version WHERE job_id = $1::int AND version < $2::int
   ORDER BY version DESC LIMIT $3::int`,
}
const DEFINITIONS_OF = {
  name: 'definitions-of',
  text: `
  SELECT nth::int, definition
    FROM unnest($1::int[], $2::int[]) WITH ORDINALITY AS item (job_id, version, nth)
    JOIN job_version USING (job_id, version)`,
}

interface InForce {
  readonly id: number
  readonly version: number
  readonly isPaused: boolean
  readonly latest: number | null
  readonly definition: string | null
}

export async function putJob(
  db: Database,
  {
    projectId,
    name,
    definition,
    owner = null,
    hooks = [],
    follows = [],
    expect,
    schedules,
    audit,
  }: Input<'putJob'>,
): ReturnType<JobStore['putJob']> {
  // Before the transaction: interned names are permanent, whether or not the change succeeds.
  await internJobs(db, [{ projectId, name }])
  const followed = await internFollowed(db, projectId, follows)
  return transact(db.duty, async (tx) => {
    const job = (await inForce(tx, projectId, name))!
    const { id, version, latest, definition: current } = job
    if (expect !== null && expect !== version) return { kind: 'conflict', version }
    const isSame = version > 0 && current === definition
    // Checks everything before the first write.
    const refusal = isSame ? null : await refuseFollowed(tx, { projectId, id, name }, followed)
    if (refusal) return refusal
    const of = { projectId, jobId: id, isHeld: job.isPaused }
    const isOvertaken = schedules && !(await reviseSchedules(tx, db.now(), of, schedules))
    if (isOvertaken) return { kind: 'overtaken', version }
    if (isSame) return { kind: 'same', version }
    await setFollowed(tx, { projectId, id }, followed)
    const next = (latest ?? 0) + 1
    await tx.query(ADD_VERSION, [db.now(), id, next, audit.actor, definition, owner])
    await setHooks(tx, { projectId, jobId: id, hooks })
    await addAudit(tx, db.now(), audit)
    return { kind: 'put', version: next }
  })
}

export async function deleteJob(
  db: Database,
  { projectId, name, expect, audit }: Input<'deleteJob'>,
): ReturnType<JobStore['deleteJob']> {
  return transact(db.duty, async (tx) => {
    const known = await inForce(tx, projectId, name)
    if (!known || known.version === 0) return 'unknown'
    if (expect !== null && expect !== known.version) return 'conflict'
    await tx.query(DROP_VERSION, [known.id])
    await tx.query(DROP_FOLLOWED, [known.id])
    const { actor } = audit
    await changeSchedulesOfJob(tx, db.now(), { jobId: known.id, actor, change: 'delete' })
    await addAudit(tx, db.now(), audit)
    return 'deleted'
  })
}

export async function pauseJob(
  db: Database,
  { projectId, name, pause, audit }: Input<'pauseJob'>,
): Promise<boolean> {
  return transact(db.duty, async (tx) => {
    const values = [db.now(), projectId, name, pause !== null, pause?.reason ?? null]
    const [job] = await tx.query<{ id: number }>(SET_PAUSE, values)
    if (!job) return false
    const change = pause === null ? 'resume' : 'pause'
    await changeSchedulesOfJob(tx, db.now(), { jobId: job.id, actor: audit.actor, change })
    await addAudit(tx, db.now(), audit)
    return true
  })
}

async function inForce(
  tx: Queryable,
  projectId: number,
  name: string,
): Promise<InForce | undefined> {
  const [, [row]] = await Promise.all([
    tx.query(LOCK, [projectId, name]),
    tx.query<InForce>(IN_FORCE, [projectId, name]),
  ])
  return row
}

export type JobRow = Omit<JobRecord, 'paused'> & {
  readonly pausedAt: number | null
  readonly pausedReason: string | null
}

export async function findDefinition(
  db: Database,
  { projectId, name }: Input<'findDefinition'>,
): Promise<JobRecord | null> {
  const [row] = await read<JobRow>(db.reading, FIND_DEFINITION, [projectId, name])
  return row ? toJobRecord(row) : null
}

export async function listDefinitions(
  db: Database,
  { projectId, after, limit }: Input<'listDefinitions'>,
): Promise<JobRecord[]> {
  const rows = await read<JobRow>(pickLists(db), DEFINITIONS_AFTER, [projectId, after, limit])
  return rows.map(toJobRecord)
}

export async function jobVersions(
  db: Database,
  { jobId, before, limit }: Input<'jobVersions'>,
): Promise<JobVersion[]> {
  return read<JobVersion>(pickLists(db), VERSIONS_BELOW, [jobId, before, limit])
}

export async function definitionsOf(
  db: Database,
  keys: Input<'definitionsOf'>,
): Promise<(string | null)[]> {
  if (keys.length === 0) return []
  const found = await read<{ nth: number; definition: string }>(db.reading, DEFINITIONS_OF, [
    ints(keys.map(({ jobId }) => jobId)),
    ints(keys.map(({ version }) => version)),
  ])
  const definitions = new Map(found.map(({ nth, definition }) => [nth, definition]))
  return keys.map((_, index) => definitions.get(index + 1) ?? null)
}

export function toJobRecord<Row extends JobRow>({ pausedAt, pausedReason, ...row }: Row) {
  return { ...row, paused: pausedAt === null ? null : { at: pausedAt, reason: pausedReason } }
}
