import { LIMITS } from '../../../core/limits.ts'
import type { Wanted } from '../../../core/run/needs.ts'
import { findFollowCircle, type FollowEdge } from '../../../core/workflow/trigger-cycle.ts'
import type { FollowRefusal, FollowWish } from '../../port.ts'
import { ints, texts } from '../connection/binary-arrays.ts'
import { internJobs } from '../catalog/catalog.ts'
import type { Database } from '../database/database.ts'
import type { Work } from '../connection/statement.ts'

/** Two who follow others in one project take turns: the second sees whom the first does. */
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
/** Everything that leads to these jobs, whatever it goes through; who was seen is not asked again. */
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

/** A job to be followed, as numbers. */
export interface NumberedWish {
  readonly source: string
  readonly cause: string
  readonly sourceId: number
  readonly causeId: number
  readonly wants: Wanted
}

/** Before the transaction: a name is interned for good, whoever uses it. */
export async function internFollowed(
  db: Database,
  projectId: number,
  follows: readonly FollowWish[],
): Promise<NumberedWish[]> {
  if (follows.length === 0) return []
  const named = (names: readonly string[]) => names.map((name) => ({ projectId, name }))
  const sources = await internJobs(db, named(follows.map(({ source }) => source)))
  const causes = await internJobs(db, named(follows.map(({ cause }) => cause)))
  return follows.map((wish, nth) => ({ ...wish, sourceId: sources[nth]!, causeId: causes[nth]! }))
}

/** What keeps a job from following these; null if nothing does, as long as the transaction lasts. */
export async function refuseFollowed(
  work: Work,
  { projectId, id, name }: { projectId: number; id: number; name: string },
  follows: readonly NumberedWish[],
): Promise<FollowRefusal | null> {
  if (follows.length === 0) return null
  await work.query(LOCK_PROJECT, [projectId])
  const sources = ints(follows.map(({ sourceId }) => sourceId))
  const full = await work.query<{ sourceId: number }>(COUNT_FOLLOWERS, [
    ...[sources, id, LIMITS.followers],
  ])
  const crowded = follows.find(({ sourceId }) => full.some((one) => one.sourceId === sourceId))
  if (crowded) return { kind: 'crowded', source: crowded.source }
  const causeIds = ints(follows.map(({ causeId }) => causeId))
  const edges = await work.query<FollowEdge>(LEADING_TO, [causeIds])
  const causes = follows.map(({ cause }) => cause)
  const path = findFollowCircle(name, causes, edges)
  return path ? { kind: 'circle', path } : null
}

/** From now on it follows these and no others. */
export async function setFollowed(
  work: Work,
  { projectId, id }: { projectId: number; id: number },
  follows: readonly NumberedWish[],
): Promise<void> {
  await work.query(DROP_FOLLOWED, [id])
  if (follows.length === 0) return
  await work.query(ADD_FOLLOWED, [
    ...[id, projectId, ints(follows.map(({ sourceId }) => sourceId))],
    ints(follows.map(({ causeId }) => causeId)),
    texts(follows.map(({ wants }) => wants)),
  ])
}
