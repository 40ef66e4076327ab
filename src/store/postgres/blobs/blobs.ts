import type { BlobRow, BlobRows } from '../../port.ts'
import { texts } from '../connection/binary-arrays.ts'
import type { Database } from '../database/database.ts'
import { CLOCK } from '../connection/statement.ts'
import { read, transact } from '../connection/transaction.ts'

const IDENTITY = { name: 'identity', text: `SELECT name FROM identity` }
const PUT_BLOB = {
  name: 'put-blob',
  text: `
  WITH ${CLOCK}
  INSERT INTO blob (key, written_at, bytes)
  SELECT $2::text, now, $3::bytea FROM clock
      ON CONFLICT (key) DO UPDATE SET written_at = excluded.written_at, bytes = excluded.bytes`,
}
/** Encoded as hex here, so that it does not depend on a server setting. */
const GET_BLOB = {
  name: 'get-blob',
  text: `
  SELECT encode(substring(bytes FROM $2::int + 1 FOR $3::int), 'hex') AS hex
    FROM blob WHERE key = $1::text`,
}
const DELETE_BLOBS = {
  name: 'delete-blobs',
  text: `DELETE FROM blob WHERE key = ANY($1::text[])`,
}
/**
 * Keys contain only digits and small letters, so every key with the prefix sorts below the prefix
 * plus a tilde.
 */
const LIST_BLOBS = {
  name: 'list-blobs',
  text: `
  WITH ${CLOCK}
  SELECT key, now - written_at AS "ageMs"
    FROM clock CROSS JOIN LATERAL (
      SELECT key, written_at FROM blob
       WHERE key > greatest($2::text COLLATE "C", $3::text) AND key < $2::text || '~'
       ORDER BY key LIMIT $4::int) page
   ORDER BY key`,
}

type Input<Name extends keyof BlobRows> = Parameters<BlobRows[Name]>[0]

export async function identity(db: Database): Promise<string> {
  const [row] = await read<{ name: string }>(db.reading, IDENTITY)
  return row?.name ?? ''
}

export async function putBlob(db: Database, { key, bytes }: Input<'putBlob'>): Promise<void> {
  // Only a Buffer is sent in binary; anything else would be sent as text.
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  await transact(db.reading, (tx) => tx.query(PUT_BLOB, [db.now(), key, whole]), 'single')
}

export async function getBlob(
  db: Database,
  { key, from, length }: Input<'getBlob'>,
): Promise<Uint8Array | null> {
  const [row] = await read<{ hex: string }>(db.reading, GET_BLOB, [key, from, length])
  return row ? Buffer.from(row.hex, 'hex') : null
}

export async function deleteBlobs(db: Database, keys: Input<'deleteBlobs'>): Promise<void> {
  if (keys.length === 0) return
  await transact(db.reading, (tx) => tx.query(DELETE_BLOBS, [texts(keys)]), 'single')
}

export async function listBlobs(
  db: Database,
  { prefix, after, limit }: Input<'listBlobs'>,
): Promise<BlobRow[]> {
  return read<BlobRow>(db.reading, LIST_BLOBS, [db.now(), prefix, after, limit])
}
