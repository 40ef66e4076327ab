import { LIMITS } from '../../../core/limits.ts'
import type { WantedOutcome } from '../../../core/run/needs.ts'
import {
  findTriggerCycle,
  type TriggerEdge,
} from '../../../core/workflow/triggers/trigger-cycle.ts'
import type { FollowRefusal, FollowRule } from '../../port.ts'
import { ints, texts } from '../connection/binary-arrays.ts'
import { internJobs } from '../catalog/catalog.ts'
import type { Database } from '../database/database.ts'
import type { Queryable } from '../connection/statement.ts'

/**
 * Two changes of follow rules in one project are serialized: the second sees the rules of the
 * first.
 */
const LOCK_PROJECT = {
  name: 'lock-project',
  text: `SELECT FROM project WHERE id = $1::int FOR NO KEY UPDATE`,
}
export const DROP_FOLLOWED = {
  name: 'drop-followed',
  text: `DELETE FROM follower WHERE job_id = $1::int`,
}
const ADD_FOLLOWED = {
  name: 'add-followed',
  text: `
  INSERT INTO follower (source_id, job_id, cause_id, project_id, wants)
  SELECT item.source_id, $1::int, item.cause_id, $2::int, item.wants
    FROM unnest($3::int[], $4::int[], $5::text[]) AS item (source_id, cause_id, wants)`,
}
const COUNT_FOLLOWERS = {
  name: 'count-followers',
  text: `
  SELECT source_id AS "sourceId" FROM follower
   WHERE source_id = ANY ($1::int[]) AND job_id <> $2::int
   GROUP BY 1 HAVING count(*) >= $3::int`,
}
/** All jobs that lead to these jobs, directly or through others; each is visited once. */
const LEADING_TO = {
  name: 'leading-to',
  text: `
  WITH RECURSIVE way (cause_id, job_id) AS (
    SELECT cause_id, job_id FROM follower WHERE job_id = ANY ($1::int[])
     UNION
    SELECT f.cause_id, f.job_id FROM way JOIN follower f ON f.job_id = way.cause_id)
  SELECT cause.name AS cause, job.name AS job
    FROM way JOIN job AS cause ON cause.id = cause_id JOIN job ON job.id = job_id`,
}

/** A follow rule with job ids. */
export interface NumberedFollowRule {
  readonly source: string
  readonly cause: string
  readonly sourceId: number
  readonly causeId: number
  readonly wants: WantedOutcome
}

/** Before the transaction: interned names are permanent, whether or not the change succeeds. */
export async function internFollowed(
  db: Database,
  projectId: number,
  follows: readonly FollowRule[],
): Promise<NumberedFollowRule[]> {
  if (follows.length === 0) return []
  const named = (names: readonly string[]) => names.map((name) => ({ projectId, name }))
  const sources = await internJobs(db, named(follows.map(({ source }) => source)))
  const causes = await internJobs(db, named(follows.map(({ cause }) => cause)))
  return follows.map((rule, nth) => ({ ...rule, sourceId: sources[nth]!, causeId: causes[nth]! }))
}

/** Why a job cannot follow these; null if it can, for the duration of the transaction. */
export async function refuseFollowed(
  tx: Queryable,
  { projectId, id, name }: { projectId: number; id: number; name: string },
  follows: readonly NumberedFollowRule[],
): Promise<FollowRefusal | null> {
  if (follows.length === 0) return null
  await tx.query(LOCK_PROJECT, [projectId])
  const sources = ints(follows.map(({ sourceId }) => sourceId))
  const full = await tx.query<{ sourceId: number }>(COUNT_FOLLOWERS, [
    sources,
    id,
    LIMITS.followers,
  ])
  const overfull = follows.find(({ sourceId }) => full.some((one) => one.sourceId === sourceId))
  if (overfull) return { kind: 'too_many', source: overfull.source }
  const causeIds = ints(follows.map(({ causeId }) => causeId))
  const edges = await tx.query<TriggerEdge>(LEADING_TO, [causeIds])
  const causes = follows.map(({ cause }) => cause)
  const path = findTriggerCycle(name, causes, edges)
  return path ? { kind: 'cycle', path } : null
}

/** Replaces the follow rules of the job. */
export async function setFollowed(
  tx: Queryable,
  { projectId, id }: { projectId: number; id: number },
  follows: readonly NumberedFollowRule[],
): Promise<void> {
  await tx.query(DROP_FOLLOWED, [id])
  if (follows.length === 0) return
  await tx.query(ADD_FOLLOWED, [
    id,
    projectId,
    ints(follows.map(({ sourceId }) => sourceId)),
    ints(follows.map(({ causeId }) => causeId)),
    texts(follows.map(({ wants }) => wants)),
  ])
}
