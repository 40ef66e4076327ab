import type { Database } from 'better-sqlite3'
import type { NewRun, SubmitVerdict } from '../../port.ts'

/** A key is valid until maintenance deletes it, which waits while the clock is in doubt. */
export const FIND_IDEMPOTENCY = `
  SELECT run_id AS id, digest FROM dedupe WHERE project_id = ? AND kind = 1 AND key = ?`
export const FIND_LIVE = `
  SELECT run_id FROM dedupe WHERE project_id = ? AND kind = 0 AND key = ?`
/** `find` has already met every key that could conflict here. */
export const TAKE = `
  INSERT INTO dedupe (project_id, kind, key, run_id, digest, until) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (project_id, kind, key) DO UPDATE
    SET run_id = excluded.run_id, digest = excluded.digest, until = excluded.until`
export const RELEASE_KEY = `
  DELETE FROM dedupe WHERE project_id = ? AND kind = 0 AND key = ? AND run_id = ?`

/** Dedupe keys (unique among live runs) and idempotency keys (unique for a day). */
export interface Keys {
  /** The run that already holds a key of this submission. */
  find(run: NewRun): Extract<SubmitVerdict, { id: number }> | undefined
  take(run: NewRun): void
  /** The run has ended: its dedupe key is free again. */
  release(projectId: number, key: string, runId: number): void
}

export function prepareKeys(db: Database): Keys {
  const findIdempotency = db.prepare<[number, string], { id: number; digest: string }>(
    FIND_IDEMPOTENCY,
  )
  const findLive = db.prepare<[number, string], number>(FIND_LIVE).pluck()
  const take = db.prepare(TAKE)
  const release = db.prepare(RELEASE_KEY)

  return {
    find({ projectId, idempotency, dedupeKey }) {
      if (idempotency !== null) {
        const earlier = findIdempotency.get(projectId, idempotency.key)
        if (earlier) {
          const kind = earlier.digest === idempotency.digest ? 'duplicate' : 'mismatch'
          return { kind, id: earlier.id }
        }
      }
      const live = dedupeKey === null ? undefined : findLive.get(projectId, dedupeKey)
      return live === undefined ? undefined : { kind: 'duplicate', id: live }
    },
    take({ id, projectId, idempotency, dedupeKey }) {
      if (idempotency !== null) {
        take.run(projectId, 1, idempotency.key, id, idempotency.digest, idempotency.until)
      }
      if (dedupeKey !== null) take.run(projectId, 0, dedupeKey, id, null, null)
    },
    release(projectId, key, runId) {
      release.run(projectId, key, runId)
    },
  }
}
