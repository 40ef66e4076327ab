import { readFileSync, statSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { SettingErrors } from './setting-errors.ts'

/** The content of a certificate file and its key file. */
export interface TlsFiles {
  readonly cert: Buffer
  readonly key: Buffer
}

/** Reads the files before anything is started, so that errors appear early. */
export function readTlsFiles(
  certPath: string | undefined,
  keyPath: string | undefined,
  settingErrors: SettingErrors,
): TlsFiles | undefined {
  if (certPath === undefined && keyPath === undefined) return undefined
  if (certPath === undefined || keyPath === undefined) {
    settingErrors.add('tls-cert', 'and tls-key belong together')
    return undefined
  }
  const cert = read('tls-cert', certPath, settingErrors)
  const key = read('tls-key', keyPath, settingErrors)
  if (!cert || !key) return undefined
  // A group may share a key, as Debian's ssl-cert does; all users may not.
  if ((statSync(keyPath).mode & 0o007) !== 0) {
    settingErrors.add('tls-key', `${keyPath} can be read by every user; run chmod o= on it`)
  }
  try {
    createSecureContext({ cert, key })
  } catch (error) {
    settingErrors.add('tls-cert', `${certPath} does not match ${keyPath}: ${reasonOf(error)}`)
  }
  return { cert, key }
}

function read(field: string, path: string, settingErrors: SettingErrors): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch (error) {
    settingErrors.add(field, `${path} cannot be read: ${(error as Error).message}`)
    return undefined
  }
}

/** OpenSSL's message without its error numbers. */
function reasonOf(error: unknown): string {
  const { reason, message } = error as Error & { reason?: string }
  return reason ?? message
}
