import { readFileSync, statSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { Refusals } from './setting-errors.ts'

/** A certificate and the key it belongs to, as they are in their files. */
export interface TlsFiles {
  readonly cert: Buffer
  readonly key: Buffer
}

/** Reads them before anything is started: a server without its key should not get half way. */
export function readTlsFiles(
  certPath: string | undefined,
  keyPath: string | undefined,
  refusals: Refusals,
): TlsFiles | undefined {
  if (certPath === undefined && keyPath === undefined) return undefined
  if (certPath === undefined || keyPath === undefined) {
    refusals.add('tls-cert', 'and tls-key belong together')
    return undefined
  }
  const cert = read('tls-cert', certPath, refusals)
  const key = read('tls-key', keyPath, refusals)
  if (!cert || !key) return undefined
  // A group may share a key on purpose, as Debian's ssl-cert does. Everybody may not.
  if ((statSync(keyPath).mode & 0o007) !== 0) {
    refusals.add('tls-key', `${keyPath} can be read by every user; run chmod o= on it`)
  }
  try {
    createSecureContext({ cert, key })
  } catch (error) {
    refusals.add('tls-cert', `${certPath} does not go with ${keyPath}: ${reasonOf(error)}`)
  }
  return { cert, key }
}

function read(field: string, path: string, refusals: Refusals): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch (error) {
    refusals.add(field, `${path} cannot be read: ${(error as Error).message}`)
    return undefined
  }
}

/** OpenSSL's own words, without its numbers. */
function reasonOf(error: unknown): string {
  const { reason, message } = error as Error & { reason?: string }
  return reason ?? message
}
