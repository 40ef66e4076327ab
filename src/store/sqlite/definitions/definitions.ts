import type { Database } from 'better-sqlite3'
import type { JobRecord, JobStore, JobVersion } from '../../port.ts'
import type { Audit } from '../audit/audit.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Followers } from '../followers/followers.ts'
import { prepareSetHooks } from './hooks.ts'
import type { ScheduleChanges } from '../schedules/schedules.ts'
import type { Sync } from '../connection/sync.ts'

export const IN_FORCE = `
  SELECT job.id, job.version, (SELECT max(version) FROM job_version WHERE job_id = job.id) AS latest,
         (SELECT definition FROM job_version
           WHERE job_id = job.id AND version = job.version) AS definition
    FROM job WHERE project_id = ? AND name = ?`
const ADD_VERSION = `
  INSERT INTO job_version (job_id, version, created_at, created_by, definition)
  VALUES (?, ?, ?, ?, ?)`
const SET_VERSION = `UPDATE job SET version = ?, owner = ? WHERE id = ?`
const DROP_VERSION = `
  UPDATE job SET version = 0, paused_at = NULL, paused_reason = NULL WHERE id = ?`
const SET_PAUSE = `
  UPDATE job SET paused_at = ?, paused_reason = ?
   WHERE project_id = ? AND name = ? AND version > 0`
/** A job and the definition in force, with `more` columns. */
export const selectJob = (more = ''): string => `
  SELECT job.id, job.name, job.version, job.paused_at AS pausedAt, job.paused_reason AS pausedReason,
         v.definition, v.created_at AS createdAt, v.created_by AS createdBy${more}
    FROM job JOIN job_version v ON v.job_id = job.id AND v.version = job.version`
export const FIND_DEFINITION = `${selectJob()} WHERE job.project_id = ? AND job.name = ?`
export const DEFINITIONS_AFTER = `${selectJob()}
   WHERE job.project_id = ? AND job.name > ? AND job.version > 0 ORDER BY job.name LIMIT ?`
export const VERSIONS_BELOW = `
  SELECT version, definition, created_at AS createdAt, created_by AS createdBy FROM job_version
   WHERE job_id = ? AND version < ? ORDER BY version DESC LIMIT ?`
export const DEFINITION_OF = `SELECT definition FROM job_version WHERE job_id = ? AND version = ?`

interface InForce {
  readonly id: number
  readonly version: number
  readonly latest: number | null
  readonly definition: string | null
}

interface Parts {
  readonly catalog: Catalog
  readonly audit: Audit
  readonly schedules: Pick<ScheduleChanges, 'ofJob'>
  readonly followers: Followers
}

type Changes = Pick<JobStore, 'putJob' | 'deleteJob' | 'pauseJob'>
type WithNow<Port> = {
  readonly [Name in keyof Port]: Port[Name] extends (input: infer Input) => Promise<infer Result>
    ? (input: Input, now: number) => Result
    : never
}

export function prepareDefinitions(
  db: Database,
  { catalog, audit, schedules: { ofJob }, followers }: Parts,
): WithNow<Changes> {
  const inForce = db.prepare<[number, string], InForce>(IN_FORCE)
  const addVersion = db.prepare(ADD_VERSION)
  const setVersion = db.prepare(SET_VERSION)
  const dropVersion = db.prepare(DROP_VERSION)
  const setPause = db.prepare(SET_PAUSE)
  const setHooks = prepareSetHooks(db)

  return {
    putJob(input, now) {
      const { projectId, name, definition, owner = null, hooks = [], expect, schedules } = input
      const { audit: entry } = input
      const known = inForce.get(projectId, name)
      const version = known?.version ?? 0
      if (expect !== null && expect !== version) return { kind: 'conflict', version }
      const isSame = known !== undefined && version > 0 && known.definition === definition
      const [id = 0] = known ? [known.id] : catalog.internJobs([{ projectId, name }])
      const following = followers.among({ projectId, id, name }, input.follows ?? [])
      // Checks everything before the first write.
      const refusal = isSame ? null : following.refuse()
      if (refusal) return refusal
      if (schedules && !ofJob.revise({ projectId, jobId: id }, schedules, now)) {
        return { kind: 'overtaken', version }
      }
      if (isSame) return { kind: 'same', version }
      following.set()
      const next = (known?.latest ?? 0) + 1
      addVersion.run(id, next, now, entry.actor, definition)
      setVersion.run(next, owner, id)
      setHooks({ projectId, jobId: id, hooks })
      audit(entry, now)
      return { kind: 'put', version: next }
    },

    deleteJob({ projectId, name, expect, audit: entry }, now) {
      const known = inForce.get(projectId, name)
      if (!known || known.version === 0) return 'unknown'
      if (expect !== null && expect !== known.version) return 'conflict'
      dropVersion.run(known.id)
      ofJob.delete(known.id, entry.actor, now)
      followers.drop(known.id)
      audit(entry, now)
      return 'deleted'
    },

    pauseJob({ projectId, name, pause, audit: entry }, now) {
      const at = pause ? now : null
      const { changes } = setPause.run(at, pause?.reason ?? null, projectId, name)
      const known = inForce.get(projectId, name)
      if (changes === 0 || !known) return false
      if (pause) ofJob.pause(known.id, entry.actor, now)
      else ofJob.resume(known.id, entry.actor, now)
      audit(entry, now)
      return true
    },
  }
}

export type JobRow = Omit<JobRecord, 'paused'> & {
  readonly pausedAt: number | null
  readonly pausedReason: string | null
}

type Queries = Pick<
  JobStore,
  'findDefinition' | 'listDefinitions' | 'jobVersions' | 'definitionsOf'
>

export function prepareDefinitionQueries(db: Database): Sync<Queries> {
  const find = db.prepare<[number, string], JobRow>(FIND_DEFINITION)
  const after = db.prepare<[number, string, number], JobRow>(DEFINITIONS_AFTER)
  const below = db.prepare<[number, number, number], JobVersion>(VERSIONS_BELOW)
  const definitionOf = db.prepare<[number, number], string>(DEFINITION_OF).pluck()

  return {
    findDefinition({ projectId, name }) {
      const row = find.get(projectId, name)
      return row ? toJobRecord(row) : null
    },
    listDefinitions: ({ projectId, after: name, limit }) =>
      after.all(projectId, name, limit).map(toJobRecord),
    jobVersions: ({ jobId, before, limit }) => below.all(jobId, before, limit),
    definitionsOf: (keys) =>
      keys.map(({ jobId, version }) => definitionOf.get(jobId, version) ?? null),
  }
}

export function toJobRecord<Row extends JobRow>({ pausedAt, pausedReason, ...row }: Row) {
  return { ...row, paused: pausedAt === null ? null : { at: pausedAt, reason: pausedReason } }
}
