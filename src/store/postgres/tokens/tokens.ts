import type { TokenRecord, TokenStore } from '../../port.ts'
import { addAudit } from '../audit/audit.ts'
import { bigints, ints } from '../connection/binary-arrays.ts'
import type { Database } from '../database/database.ts'
import { CLOCK } from '../connection/statement.ts'
import { read, transact } from '../connection/transaction.ts'

type Input<Name extends keyof TokenStore> = Parameters<TokenStore[Name]>[0]

const ADD_TOKEN = {
  name: 'add-token',
  text: `
  WITH ${CLOCK}
  INSERT INTO token (project_id, name, role, hash, ending, created_at, created_by, expires_at)
  SELECT $2::int, $3, $4, $5, $6, now, $7::int, $8::bigint FROM clock RETURNING id`,
}
const REVOKE = {
  name: 'revoke-token',
  text: `
  WITH ${CLOCK}
  UPDATE token SET revoked_at = now FROM clock
   WHERE id = $2::int AND (revoked_at IS NULL OR revoked_at = expires_at) AND ($3::int IS NULL OR project_id = $3::int)
  RETURNING id`,
}
const EXPIRE_TOKENS = {
  name: 'expire-tokens',
  text: `
  WITH ${CLOCK}
  UPDATE token SET revoked_at = expires_at FROM clock
   WHERE revoked_at IS NULL AND expires_at <= now`,
}
const TOUCH = {
  name: 'touch-tokens',
  text: `
  UPDATE token SET last_used_at = used.at
    FROM unnest($1::int[], $2::bigint[]) AS used (id, at)
   WHERE token.id = used.id AND (last_used_at IS NULL OR last_used_at < used.at)`,
}
const RECORD = `
  SELECT id, project_id AS "projectId", name, role, hash, ending, created_at AS "createdAt",
         created_by AS "createdBy", expires_at AS "expiresAt", revoked_at AS "revokedAt",
         last_used_at AS "lastUsedAt" FROM token`
const FIND_TOKEN = { name: 'find-token', text: `${RECORD} WHERE hash = $1` }
const TOKENS_OF = {
  name: 'tokens-of',
  text: `${RECORD} WHERE $1::int IS NULL OR project_id = $1::int ORDER BY id DESC`,
}

export async function createToken(db: Database, input: Input<'createToken'>): Promise<number> {
  const { projectId, name, role, hash, ending, createdBy, expiresAt, audit } = input
  return transact(db.duty, async (tx) => {
    const values = [db.now(), projectId, name, role, hash, ending, createdBy, expiresAt]
    const [row] = await tx.query<{ id: number }>(ADD_TOKEN, values)
    await addAudit(tx, db.now(), audit)
    return row!.id
  })
}

export async function expireTokens(db: Database): Promise<void> {
  await transact(db.duty, (tx) => tx.query(EXPIRE_TOKENS, [db.now()]), 'single')
}

export async function revokeToken(
  db: Database,
  { id, projectId, audit }: Input<'revokeToken'>,
): Promise<boolean> {
  return transact(db.duty, async (tx) => {
    if ((await tx.query(REVOKE, [db.now(), id, projectId])).length === 0) return false
    await addAudit(tx, db.now(), audit)
    return true
  })
}

export async function touchTokens(db: Database, uses: Input<'touchTokens'>): Promise<void> {
  if (uses.length === 0) return
  const values = [ints(uses.map(({ id }) => id)), bigints(uses.map(({ at }) => at))]
  await transact(db.duty, (tx) => tx.query(TOUCH, values), 'single')
}

export async function findToken(db: Database, hash: string): Promise<TokenRecord | null> {
  const [row] = await read<TokenRecord>(db.reading, FIND_TOKEN, [hash])
  return row ?? null
}

export async function listTokens(
  db: Database,
  { projectId }: Input<'listTokens'>,
): Promise<TokenRecord[]> {
  return read<TokenRecord>(db.reading, TOKENS_OF, [projectId])
}
