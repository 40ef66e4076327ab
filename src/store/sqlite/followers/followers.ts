import type { Database } from 'better-sqlite3'
import { LIMITS } from '../../../core/limits.ts'
import {
  findTriggerCycle,
  type TriggerEdge,
} from '../../../core/workflow/triggers/trigger-cycle.ts'
import type { FollowRefusal, FollowRule } from '../../port.ts'
import type { Catalog } from '../catalog/catalog.ts'

export const DROP_FOLLOWED = `DELETE FROM follower WHERE job_id = ?`
export const ADD_FOLLOWER = `
  INSERT INTO follower (source_id, job_id, cause_id, wants) VALUES (?, ?, ?, ?)`
export const COUNT_FOLLOWERS = `
  SELECT count(*) FROM follower WHERE source_id = ? AND job_id <> ?`
/** All jobs that lead to a job, directly or through others; each is visited once. */
export const LEADING_TO = `
  WITH RECURSIVE way (cause_id, job_id) AS (
    SELECT cause_id, job_id FROM follower WHERE job_id = ?
     UNION
    SELECT f.cause_id, f.job_id FROM way JOIN follower f ON f.job_id = way.cause_id)
  SELECT (SELECT name FROM job WHERE id = cause_id) AS cause,
         (SELECT name FROM job WHERE id = job_id) AS job
    FROM way`

/** Follow rules of the definitions in force. */
export interface Followers {
  /** A follow rule with job ids. */
  among(job: FollowingJob, follows: readonly FollowRule[]): Following
  drop(jobId: number): void
}

interface FollowingJob {
  readonly projectId: number
  readonly id: number
  readonly name: string
}

interface Following {
  /** Why the job cannot follow these; null if it can. */
  refuse(): FollowRefusal | null
  /** Replaces the follow rules of the job. */
  set(): void
}

export function prepareFollowers(
  db: Database,
  { internJobs }: Pick<Catalog, 'internJobs'>,
): Followers {
  const drop = db.prepare<[number]>(DROP_FOLLOWED)
  const add = db.prepare(ADD_FOLLOWER)
  const count = db.prepare<[number, number], number>(COUNT_FOLLOWERS).pluck()
  const leadingTo = db.prepare<[number], TriggerEdge>(LEADING_TO)

  return {
    among({ projectId, id, name }, follows) {
      const numbered = follows.map(({ source, cause, wants }) => {
        const named = [source, cause].map((job) => ({ projectId, name: job }))
        const [sourceId = 0, causeId = 0] = internJobs(named)
        return { source, sourceId, causeId, wants }
      })
      return {
        refuse() {
          const overfull = numbered.find(
            ({ sourceId }) => (count.get(sourceId, id) ?? 0) >= LIMITS.followers,
          )
          if (overfull) return { kind: 'too_many', source: overfull.source }
          const edges = numbered.flatMap(({ causeId }) => leadingTo.all(causeId))
          const causes = follows.map(({ cause }) => cause)
          const path = findTriggerCycle(name, causes, edges)
          return path ? { kind: 'cycle', path } : null
        },
        set() {
          drop.run(id)
          for (const { sourceId, causeId, wants } of numbered) add.run(sourceId, id, causeId, wants)
        },
      }
    },
    drop: (jobId) => void drop.run(jobId),
  }
}
