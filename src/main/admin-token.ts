import { randomBytes } from 'node:crypto'
import { open, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { PunctualError } from '../core/errors.ts'

const MIN_LENGTH = 32
/** Random text of that length has more; `changemechangemechangemechangeme` has not. */
const MIN_DISTINCT = 10

/** The token of this installation: written once, readable by its owner only. */
export async function adminToken(dataDir: string): Promise<{ token: string; path: string }> {
  const path = join(dataDir, 'admin-token')
  return { token: (await readToken(path)) ?? (await writeToken(path)), path }
}

async function readToken(path: string): Promise<string | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text === null) return null
  if (((await stat(path)).mode & 0o077) !== 0) {
    throw refused(path, 'can be read by other users; run chmod 600 on it')
  }
  const token = text.trim()
  if (token === '') throw refused(path, 'is empty; remove it, and the next start writes a new one')
  // It travels in a header, and is compared as it came.
  if (!/^[!-~]+$/.test(token)) throw refused(path, 'holds spaces, lines or letters beyond ASCII')
  if (token.length < MIN_LENGTH) throw refused(path, `holds fewer than ${MIN_LENGTH} characters`)
  if (new Set(token).size < MIN_DISTINCT) throw refused(path, 'is easy to guess')
  return token
}

async function writeToken(path: string): Promise<string> {
  const token = `pun_admin_${randomBytes(32).toString('base64url')}`
  // Exclusive: of two first starts at once, one writes and the other fails loudly.
  const file = await open(path, 'wx', 0o600)
  await file.writeFile(`${token}\n`)
  await file.sync()
  await file.close()
  return token
}

function refused(path: string, why: string): PunctualError {
  return new PunctualError('config_invalid', `${path} ${why}`, { field: 'admin-token' })
}
