import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { PunctualError } from '../../core/errors.ts'
import type { AdminTokenFile } from '../../server/identity/installation-token.ts'
import { writePrivately } from './private-files.ts'
import { writeNewFile } from './write-new-file.ts'

const MIN_LENGTH = 32
/**
 * Random text of that length has more distinct characters; `changemechangemechangemechangeme` has
 * fewer.
 */
const MIN_DISTINCT = 10

/** The token of this installation: written once, readable by its owner only. */
export async function adminToken(dataDir: string): Promise<{ token: string; path: string }> {
  const path = join(dataDir, 'admin-token')
  return { token: (await readToken(path)) ?? (await writeToken(path)), path }
}

const REGISTERED = '.registered'

/** The token file of a data directory, for a store that several nodes may share. */
export function adminTokenFile(token: string, path: string): AdminTokenFile {
  const note = path + REGISTERED
  return {
    token,
    place: `${hostname()}:${resolve(path)}`,
    registered: () => (existsSync(note) ? readFileSync(note, 'utf8').trim() : undefined),
    setRegistered: (digest) => writePrivately(note, `${digest}\n`),
  }
}

async function readToken(path: string): Promise<string | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw refused(path, `cannot be read: ${error.message}`)
  })
  if (text === null) return null
  if (((await stat(path)).mode & 0o077) !== 0) {
    throw refused(path, 'can be read by other users; run chmod 600 on it')
  }
  const token = text.trim()
  if (token === '') throw refused(path, 'is empty; remove it, and the next start writes a new one')
  // The token travels in a header and is compared byte by byte.
  if (!/^[!-~]+$/.test(token)) throw refused(path, 'holds spaces, lines or letters beyond ASCII')
  if (token.length < MIN_LENGTH) throw refused(path, `holds fewer than ${MIN_LENGTH} characters`)
  if (new Set(token).size < MIN_DISTINCT) throw refused(path, 'is easy to guess')
  return token
}

async function writeToken(path: string): Promise<string> {
  const token = `pun_admin_${randomBytes(32).toString('base64url')}`
  await writeNewFile(path, `${token}\n`)
  return token
}

function refused(path: string, why: string): PunctualError {
  return new PunctualError('config_invalid', `${path} ${why}`, { field: 'admin-token' })
}
