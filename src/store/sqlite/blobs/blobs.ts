import type { Database } from 'better-sqlite3'
import type { BlobRow, BlobRows } from '../../port.ts'
import type { Sync } from '../connection/sync.ts'

const PUT_BLOB = `
  INSERT INTO blob (key, written_at, bytes) VALUES (?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET written_at = excluded.written_at, bytes = excluded.bytes`
const DELETE_BLOB = `DELETE FROM blob WHERE key = ?`
/** SQLite returns NULL for a part of an empty blob. */
export const GET_BLOB = `SELECT coalesce(substr(bytes, :from + 1, :length), x'') FROM blob WHERE key = :key`
/**
 * Keys contain only digits and small letters, so every key with the prefix sorts below the prefix
 * plus a tilde.
 */
export const LIST_BLOBS = `
  SELECT key, written_at AS writtenAt FROM blob
   WHERE key > max(:prefix, :after) AND key < :prefix || '~' ORDER BY key LIMIT :limit`

type Input<Name extends keyof BlobRows> = Parameters<BlobRows[Name]>[0]

export function prepareBlobs(db: Database) {
  const put = db.prepare(PUT_BLOB)
  const remove = db.prepare(DELETE_BLOB)
  const list = db.prepare<[object], { key: string; writtenAt: number }>(LIST_BLOBS)
  return {
    putBlob({ key, bytes }: Input<'putBlob'>, now: number): void {
      put.run(key, now, bytes)
    },
    deleteBlobs(keys: Input<'deleteBlobs'>): void {
      for (const key of keys) remove.run(key)
    },
    listBlobs: (input: Input<'listBlobs'>, now: number): BlobRow[] =>
      list.all(input).map(({ key, writtenAt }) => ({ key, ageMs: now - writtenAt })),
  }
}

export function prepareBlobQueries(db: Database): Sync<Pick<BlobRows, 'identity' | 'getBlob'>> {
  const identity = db.prepare<[], string>(`SELECT name FROM identity`).pluck()
  const get = db.prepare<[object], Uint8Array>(GET_BLOB).pluck()
  return {
    identity: () => identity.get() ?? '',
    getBlob: (input) => get.get(input) ?? null,
  }
}
