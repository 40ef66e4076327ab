import type { Database } from 'better-sqlite3'
import type { TokenRecord, TokenStore } from '../../port.ts'
import type { Audit } from '../audit/audit.ts'
import type { Sync } from '../connection/sync.ts'

const ADD_TOKEN = `
  INSERT INTO token (project_id, name, role, hash, ending, created_at, created_by, expires_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
const REVOKE = `
  UPDATE token SET revoked_at = :now
   WHERE id = :id AND (revoked_at IS NULL OR revoked_at = expires_at) AND (:projectId IS NULL OR project_id = :projectId)`
export const EXPIRE_TOKENS = `
  UPDATE token SET revoked_at = expires_at WHERE revoked_at IS NULL AND expires_at <= ?`
const TOUCH = `
  UPDATE token SET last_used_at = :at WHERE id = :id AND (last_used_at IS NULL OR last_used_at < :at)`
const RECORD = `
  SELECT id, project_id AS projectId, name, role, hash, ending, created_at AS createdAt,
         created_by AS createdBy, expires_at AS expiresAt, revoked_at AS revokedAt,
         last_used_at AS lastUsedAt FROM token`
export const FIND_TOKEN = `${RECORD} WHERE hash = ?`
const TOKENS_OF = `${RECORD}
   WHERE :projectId IS NULL OR project_id = :projectId ORDER BY id DESC`

type Changes = Pick<TokenStore, 'createToken' | 'expireTokens' | 'revokeToken' | 'touchTokens'>

export interface TokenChanges {
  createToken(input: Parameters<Changes['createToken']>[0], now: number): number
  expireTokens(now: number): void
  revokeToken(input: Parameters<Changes['revokeToken']>[0], now: number): boolean
  touchTokens(uses: Parameters<Changes['touchTokens']>[0]): void
}

export function prepareTokens(db: Database, audit: Audit): TokenChanges {
  const add = db.prepare(ADD_TOKEN)
  const revoke = db.prepare(REVOKE)
  const expire = db.prepare(EXPIRE_TOKENS)
  const touch = db.prepare(TOUCH)
  return {
    createToken(input, now) {
      const { projectId, name, role, hash, ending, createdBy, expiresAt } = input
      const { lastInsertRowid } = add.run(
        projectId,
        name,
        role,
        hash,
        ending,
        now,
        createdBy,
        expiresAt,
      )
      audit(input.audit, now)
      return Number(lastInsertRowid)
    },
    expireTokens: (now) => void expire.run(now),
    revokeToken({ id, projectId, audit: entry }, now) {
      if (revoke.run({ id, projectId, now }).changes === 0) return false
      audit(entry, now)
      return true
    },
    touchTokens(uses) {
      for (const use of uses) touch.run(use)
    },
  }
}

export function prepareTokenQueries(db: Database): Sync<Omit<TokenStore, keyof Changes>> {
  const find = db.prepare<[string], TokenRecord>(FIND_TOKEN)
  const tokensOf = db.prepare<[object], TokenRecord>(TOKENS_OF)
  return {
    findToken: (hash) => find.get(hash) ?? null,
    listTokens: ({ projectId }) => tokensOf.all({ projectId }),
  }
}
