import type { Database } from 'better-sqlite3'
import type { SealedSecret, SecretKeyRecord, SecretRecord, SecretStore } from '../../port.ts'
import type { Audit } from '../audit/audit.ts'
import type { Sync } from '../connection/sync.ts'

const STORE_KEY = `INSERT INTO secret_key (id, "check") VALUES (?, ?) ON CONFLICT (id) DO NOTHING`
const RECORD = `
  project_id AS projectId, name, version, key_id AS keyId, updated_at AS updatedAt,
  updated_by AS updatedBy`
const PUT = `
  INSERT INTO secret (project_id, name, version, key_id, sealed, updated_at, updated_by)
  VALUES (:projectId, :name, 1, :keyId, :sealed, :now, :actor)
      ON CONFLICT (project_id, name) DO UPDATE
         SET version = version + 1, key_id = excluded.key_id, sealed = excluded.sealed,
             updated_at = excluded.updated_at, updated_by = excluded.updated_by
  RETURNING ${RECORD}`
const REMOVE = `DELETE FROM secret WHERE project_id = ? AND name = ?`
const RESEAL = `
  UPDATE secret SET key_id = :keyId, sealed = :resealed
   WHERE project_id = :projectId AND name = :name AND sealed = :sealed`
const FORGET_UNUSED = `
  DELETE FROM secret_key
   WHERE id <> ? AND NOT EXISTS (SELECT 1 FROM secret WHERE key_id = secret_key.id)`
const ANNOUNCE = `UPDATE node SET secret_keys = ? WHERE incarnation = ?`

export const SECRETS_AFTER = `
  SELECT ${RECORD} FROM secret WHERE project_id = ? AND name > ? ORDER BY name LIMIT ?`
const SEALED = `SELECT project_id AS projectId, name, key_id AS keyId, sealed FROM secret`
export const FIND_SECRET = `${SEALED} WHERE project_id = ? AND name = ?`
export const WITHOUT_KEY = `${SEALED}
   WHERE (project_id, name) > (:projectId, :name) AND key_id <> :keyId
   ORDER BY project_id, name LIMIT :limit`
/** There are few keys; each costs a walk along its index. */
const KEYS = `
  SELECT id, "check", (SELECT count(*) FROM secret WHERE key_id = secret_key.id) AS secrets
    FROM secret_key ORDER BY id`
const NODES_WITHOUT_KEY = `
  SELECT name FROM node WHERE alive = 1 AND instr(secret_keys, ?) = 0 ORDER BY name`

type Changes = Pick<
  SecretStore,
  'putSecret' | 'removeSecret' | 'resealSecrets' | 'forgetUnusedKeys' | 'announceKeys'
>
type Input<Name extends keyof Changes> = Parameters<Changes[Name]>[0]

export interface SecretChanges extends Sync<Pick<Changes, 'forgetUnusedKeys' | 'announceKeys'>> {
  putSecret(input: Input<'putSecret'>, now: number): SecretRecord
  resealSecrets(input: Input<'resealSecrets'>, now: number): number
  removeSecret(input: Input<'removeSecret'>, now: number): boolean
}

export function prepareSecrets(db: Database, audit: Audit): SecretChanges {
  const storeKey = db.prepare(STORE_KEY)
  const put = db.prepare<[object], SecretRecord>(PUT)
  const remove = db.prepare(REMOVE)
  const reseal = db.prepare(RESEAL)
  const forget = db.prepare(FORGET_UNUSED)
  const announce = db.prepare(ANNOUNCE)

  return {
    putSecret({ projectId, name, sealed, key, audit: entry }, now) {
      storeKey.run(key.id, key.check)
      const row = { projectId, name, keyId: key.id, sealed, now, actor: entry.actor }
      const record = put.get(row) as SecretRecord
      audit(entry, now)
      return record
    },
    removeSecret({ projectId, name, audit: entry }, now) {
      if (remove.run(projectId, name).changes === 0) return false
      audit(entry, now)
      return true
    },
    resealSecrets({ key, secrets, audit: entry }, now) {
      storeKey.run(key.id, key.check)
      let changed = 0
      for (const { projectId, name, sealed, resealed } of secrets) {
        changed += reseal.run({ projectId, name, sealed, resealed, keyId: key.id }).changes
      }
      if (entry && changed > 0) audit(entry, now)
      return changed
    },
    forgetUnusedKeys: ({ except }) => void forget.run(except),
    announceKeys: ({ node, keys }) => void announce.run(keys.map(spaced).join(''), node),
  }
}

export function prepareSecretQueries(db: Database): Sync<Omit<SecretStore, keyof Changes>> {
  const after = db.prepare<[number, string, number], SecretRecord>(SECRETS_AFTER)
  const find = db.prepare<[number, string], SealedSecret>(FIND_SECRET)
  const withoutKey = db.prepare<[object], SealedSecret>(WITHOUT_KEY)
  const keys = db.prepare<[], SecretKeyRecord>(KEYS)
  const nodes = db.prepare<[string], string>(NODES_WITHOUT_KEY).pluck()
  return {
    listSecrets: ({ projectId, after: name, limit }) => after.all(projectId, name, limit),
    findSecrets: (names) => names.map(({ projectId, name }) => find.get(projectId, name) ?? null),
    secretsWithoutKey: ({ keyId, after: { projectId, name }, limit }) =>
      withoutKey.all({ keyId, projectId, name, limit }),
    secretKeys: () => keys.all(),
    nodesWithoutKey: ({ keyId }) => nodes.all(spaced(keyId)),
  }
}

/** Ids contain no spaces, so one is never found inside another. */
function spaced(keyId: string): string {
  return ` ${keyId} `
}
