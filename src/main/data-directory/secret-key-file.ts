import { createSecretKey, randomBytes } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { PunctualError } from '../../core/errors.ts'
import { formatKey, newKey, parseKeys } from '../../core/secrets/key-file.ts'
import type { KeySource, SecretKey } from '../../server/secrets/keys.ts'
import { writeNewFile } from './write-new-file.ts'

const DEFAULT_NAME = 'secret-key'

/**
 * The keys that encrypt secrets, in a file that only its owner can read. A server with a SQLite
 * file creates one at its first start; nodes that share a store must all be given the same file.
 */
export function secretKeyFile({
  dataDir,
  store,
  secretKey,
}: {
  readonly dataDir: string
  /** The URL of the store. */
  readonly store: string
  /** The file with the keys; default: in the data directory. */
  readonly secretKey: string | undefined
}): KeySource {
  const path = secretKey ?? join(dataDir, DEFAULT_NAME)
  const isShared = store.startsWith('postgres')
  const mayBeAbsent = secretKey === undefined
  return {
    name: path,
    read: () => readKeys(path, mayBeAbsent),
    ...(mayBeAbsent && !isShared ? { create: () => createKeys(path) } : {}),
  }
}

async function readKeys(path: string, mayBeAbsent: boolean): Promise<SecretKey[]> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && mayBeAbsent) return []
    throw refused(path, code === 'ENOENT' ? 'is not there' : `cannot be read: ${message}`)
  }
  if (((await stat(path)).mode & 0o077) !== 0) {
    throw refused(path, 'can be read by other users; run chmod 600 on it')
  }
  const parsed = parseKeys(text)
  if (typeof parsed === 'string') throw refused(path, parsed)
  return parsed.map(({ id, bytes }) => ({ id, key: createSecretKey(bytes) }))
}

async function createKeys(path: string): Promise<SecretKey[]> {
  await writeNewFile(path, formatKey(newKey(randomBytes)))
  return readKeys(path, false)
}

function refused(path: string, why: string): PunctualError {
  return new PunctualError('config_invalid', `${path} ${why}`, { field: 'secret-key' })
}
