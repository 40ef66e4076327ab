import { createHash } from 'node:crypto'
import { BlobError, type BlobName } from './port.ts'

/**
 * `area/label-digest`. Contains no characters that are special in a file system, a URL or a query.
 */
const KEY = /^[0-9a-z]{1,64}\/[0-9a-z_-]{1,100}-[0-9a-f]{64}$/
const DIGEST_LENGTH = 64

export function keyFor({ area, label }: BlobName, bytes: Uint8Array): string {
  return requireKey(`${area}/${label}-${digestOf(bytes)}`)
}

/** Checks a key from a row: a manipulated key must not lead to another file. */
export function requireKey(key: string): string {
  if (KEY.test(key)) return key
  throw new BlobError('missing', `"${key.slice(0, 200)}" is not the key of a blob`)
}

export function requireIntact(key: string, bytes: Uint8Array, place: string): void {
  if (digestOf(bytes) === key.slice(-DIGEST_LENGTH)) return
  const what = `the blob ${key} in ${place} is not what was written: ${bytes.length} bytes`
  throw new BlobError('corrupt', `${what} with another digest`)
}

export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
