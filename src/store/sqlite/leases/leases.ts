import type { Database } from 'better-sqlite3'
import type { Lease, SweepStore } from '../../port.ts'
import type { AttemptEnds } from '../ticks/end.ts'
import { LEASE_COLUMNS, type LeaseRow, toLease } from './lease-row.ts'
import type { Sync } from '../connection/sync.ts'

export const OWNED_BY = `
  SELECT ${LEASE_COLUMNS} FROM run WHERE status = 1 AND node = ? AND id > ? ORDER BY id LIMIT ?`
export const NEXT_OWNER = `
  SELECT node FROM run WHERE status = 1 AND node > ? ORDER BY node LIMIT 1`
export const MARKED = `
  SELECT id FROM run WHERE status = 1 AND cancelling = 1 AND node = ? ORDER BY id`
export const FIND_LEASE = `
  SELECT ${LEASE_COLUMNS} FROM run WHERE id = ? AND status = 1 AND fence = ?`
/** Alive, or dead and within its grace period: its leases are not orphans yet. */
export const KEEPS_LEASES = `
  SELECT 1 FROM node WHERE incarnation = ? AND (alive = 1 OR reap_at > ?)`

type LeaseQueries = Sync<Pick<SweepStore, 'ownLeases' | 'cancelMarks' | 'findAttempts'>> & {
  orphans(input: { after: number; limit: number }, now: number): Lease[]
}

/** Seeks from owner to owner, not from lease to lease: a busy node costs one seek. */
export function prepareOwners(db: Database): () => Generator<number> {
  const nextOwner = db.prepare<[number], number>(NEXT_OWNER).pluck()
  return function* owners() {
    for (let owner = nextOwner.get(-1); owner !== undefined; owner = nextOwner.get(owner)) {
      yield owner
    }
  }
}

export function prepareLeases(db: Database, endings: AttemptEnds): LeaseQueries {
  const ownedBy = db.prepare<[number, number, number], LeaseRow>(OWNED_BY)
  const marked = db.prepare<[number], number>(MARKED).pluck()
  const find = db.prepare<[number, number], LeaseRow>(FIND_LEASE)
  const owners = prepareOwners(db)
  const keepsLeases = db.prepare<[number, number]>(KEEPS_LEASES)

  return {
    orphans({ after, limit }, now) {
      const dead = [...owners()].filter((node) => keepsLeases.get(node, now) === undefined)
      const rows = dead.flatMap((node) => ownedBy.all(node, after, limit))
      return rows
        .sort((a, b) => a.runId - b.runId)
        .slice(0, limit)
        .map(toLease)
    },
    ownLeases: ({ node, after, limit }) => ownedBy.all(node, after, limit).map(toLease),
    cancelMarks: ({ node }) => marked.all(node),
    findAttempts: (pairs) =>
      pairs.map(({ runId, fence }) => {
        const row = find.get(runId, fence)
        if (row) return { kind: 'lease', lease: toLease(row) }
        const cause = endings.endedWith(runId, fence)
        return cause === undefined ? { kind: 'stale' } : { kind: 'ended', cause }
      }),
  }
}
