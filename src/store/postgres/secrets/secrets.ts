import type { SealedSecret, SecretKeyRecord, SecretRecord, SecretStore } from '../../port.ts'
import { addAudit } from '../audit/audit.ts'
import { ints, texts } from '../connection/binary-arrays.ts'
import type { Database } from '../database/database.ts'
import { CLOCK, type Queryable } from '../connection/statement.ts'
import { read, transact } from '../connection/transaction.ts'

type Input<Name extends keyof SecretStore> = Parameters<SecretStore[Name]>[0]

/**
 * An update that changes nothing: a transaction that wants to delete the key meanwhile has to wait.
 */
const STORE_KEY = {
  name: 'store-secret-key',
  text: `
  INSERT INTO secret_key (id, "check") VALUES ($1, $2)
      ON CONFLICT (id) DO UPDATE SET "check" = secret_key."check"`,
}
const RECORD = `
  project_id AS "projectId", name, version, key_id AS "keyId", updated_at AS "updatedAt",
  updated_by AS "updatedBy"`
const PUT = {
  name: 'put-secret',
  text: `
  WITH ${CLOCK}
  INSERT INTO secret (project_id, name, version, key_id, sealed, updated_at, updated_by)
  SELECT $2::int, $3, 1, $4, $5, now, $6::int FROM clock
      ON CONFLICT (project_id, name) DO UPDATE
         SET version = secret.version + 1, key_id = excluded.key_id, sealed = excluded.sealed,
             updated_at = excluded.updated_at, updated_by = excluded.updated_by
  RETURNING ${RECORD}`,
}
const REMOVE = {
  name: 'remove-secret',
  text: `DELETE FROM secret WHERE project_id = $1::int AND name = $2 RETURNING 1`,
}
const SECRETS_AFTER = {
  name: 'secrets-after',
  text: `
  SELECT ${RECORD} FROM secret WHERE project_id = $1::int AND name > $2
   ORDER BY name LIMIT $3::int`,
}
const SEALED = `project_id AS "projectId", name, key_id AS "keyId", sealed`
const FIND_SECRETS = {
  name: 'find-secrets',
  text: `
  SELECT ${SEALED} FROM secret
   WHERE (project_id, name) IN (SELECT * FROM unnest($1::int[], $2::text[]))`,
}
const WITHOUT_KEY = {
  name: 'secrets-without-key',
  text: `
  SELECT ${SEALED} FROM secret
   WHERE key_id <> $1 AND (project_id, name) > ($2::int, $3)
   ORDER BY project_id, name LIMIT $4::int`,
}
const RESEAL = {
  name: 'reseal-secrets',
  text: `
  UPDATE secret SET key_id = $1, sealed = given.resealed
    FROM unnest($2::int[], $3::text[], $4::text[], $5::text[])
           AS given (project_id, name, sealed, resealed)
   WHERE secret.project_id = given.project_id AND secret.name = given.name
     AND secret.sealed = given.sealed
  RETURNING 1`,
}
const KEYS = {
  name: 'secret-keys',
  text: `
  SELECT id, "check", (SELECT count(*) FROM secret WHERE key_id = secret_key.id) AS secrets
    FROM secret_key ORDER BY id COLLATE "C"`,
}
const FORGET_UNUSED = {
  name: 'forget-unused-keys',
  text: `
  DELETE FROM secret_key
   WHERE id <> $1 AND NOT EXISTS (SELECT FROM secret WHERE key_id = secret_key.id)`,
}
const ANNOUNCE = {
  name: 'announce-keys',
  text: `UPDATE node SET secret_keys = coalesce($2::text[], '{}') WHERE id = $1::int`,
}
const NODES_WITHOUT_KEY = {
  name: 'nodes-without-key',
  text: `SELECT name FROM node WHERE alive AND NOT $1 = ANY (secret_keys) ORDER BY name`,
}

export async function putSecret(db: Database, input: Input<'putSecret'>): Promise<SecretRecord> {
  const { projectId, name, sealed, key, audit } = input
  return transact(db.duty, async (tx) => {
    await remember(tx, key)
    const values = [db.now(), projectId, name, key.id, sealed, audit.actor]
    const [row] = await tx.query<SecretRecord>(PUT, values)
    await addAudit(tx, db.now(), audit)
    return row!
  })
}

async function remember(tx: Queryable, { id, check }: Input<'putSecret'>['key']): Promise<void> {
  await tx.query(STORE_KEY, [id, check])
}

export async function removeSecret(
  db: Database,
  { projectId, name, audit }: Input<'removeSecret'>,
): Promise<boolean> {
  return transact(db.duty, async (tx) => {
    if ((await tx.query(REMOVE, [projectId, name])).length === 0) return false
    await addAudit(tx, db.now(), audit)
    return true
  })
}

export async function listSecrets(
  db: Database,
  { projectId, after, limit }: Input<'listSecrets'>,
): Promise<SecretRecord[]> {
  return read<SecretRecord>(db.reading, SECRETS_AFTER, [projectId, after, limit])
}

export async function findSecrets(
  db: Database,
  keys: Input<'findSecrets'>,
): Promise<(SealedSecret | null)[]> {
  if (keys.length === 0) return []
  const values = [ints(keys.map(({ projectId }) => projectId)), texts(keys.map(({ name }) => name))]
  const rows = await read<SealedSecret>(db.reading, FIND_SECRETS, values)
  const found = new Map(rows.map((row) => [`${row.projectId} ${row.name}`, row]))
  return keys.map(({ projectId, name }) => found.get(`${projectId} ${name}`) ?? null)
}

export async function secretsWithoutKey(
  db: Database,
  { keyId, after, limit }: Input<'secretsWithoutKey'>,
): Promise<SealedSecret[]> {
  const values = [keyId, after.projectId, after.name, limit]
  return read<SealedSecret>(db.reading, WITHOUT_KEY, values)
}

export async function resealSecrets(
  db: Database,
  { key, secrets, audit }: Input<'resealSecrets'>,
): Promise<number> {
  return transact(db.duty, async (tx) => {
    await remember(tx, key)
    const rows = await tx.query(RESEAL, [
      key.id,
      ints(secrets.map(({ projectId }) => projectId)),
      texts(secrets.map(({ name }) => name)),
      texts(secrets.map(({ sealed }) => sealed)),
      texts(secrets.map(({ resealed }) => resealed)),
    ])
    if (audit && rows.length > 0) await addAudit(tx, db.now(), audit)
    return rows.length
  })
}

export async function secretKeys(db: Database): Promise<SecretKeyRecord[]> {
  return read<SecretKeyRecord>(db.reading, KEYS)
}

export async function forgetUnusedKeys(
  db: Database,
  { except }: Input<'forgetUnusedKeys'>,
): Promise<void> {
  await transact(db.duty, (tx) => tx.query(FORGET_UNUSED, [except]), 'single')
}

export async function announceKeys(
  db: Database,
  { node, keys }: Input<'announceKeys'>,
): Promise<void> {
  await transact(db.duty, (tx) => tx.query(ANNOUNCE, [node, texts(keys)]), 'single')
}

export async function nodesWithoutKey(
  db: Database,
  { keyId }: Input<'nodesWithoutKey'>,
): Promise<string[]> {
  const rows = await read<{ name: string }>(db.reading, NODES_WITHOUT_KEY, [keyId])
  return rows.map(({ name }) => name)
}
