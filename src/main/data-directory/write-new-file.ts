import { randomBytes } from 'node:crypto'
import { link, open, rm } from 'node:fs/promises'

/**
 * Writes a secret to a new file, complete and synced, or not at all: half a file left by a full
 * disk or a crash would break the next start. Fails if the file exists: of two concurrent first
 * starts, one writes it and the other fails.
 */
export async function writeNewFile(path: string, text: string): Promise<void> {
  const unfinished = `${path}.${randomBytes(4).toString('hex')}.new`
  try {
    const file = await open(unfinished, 'wx', 0o600)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await link(unfinished, path)
  } finally {
    await rm(unfinished, { force: true })
  }
}
