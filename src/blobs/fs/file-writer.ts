import { randomBytes } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileOf, UNFINISHED } from './layout.ts'

/**
 * A file appears under its name whole and on the disk, or not at all: it is written and synced beside
 * its place, renamed into it, and the folder that now lists it is synced as well. A failed sync is
 * never repeated on the same file, because the pages it lost count as clean afterwards.
 */
export interface FileWriter {
  (key: string, bytes: Uint8Array): Promise<void>
  /** Writes a few bytes and takes them back. */
  probe(): Promise<void>
}

/** `device`: the file system that the directory was on when it was opened. */
export function createFileWriter(directory: string, device: number): FileWriter {
  /** Folders known to be on the disk. */
  const folders = new Map<string, Promise<void>>()

  /**
   * One that was emptied is filled again. But what stays behind where a file system was mounted looks the
   * same: what is written there disappears when it comes back, and all others would seem to be lost.
   */
  const requireOurs = async (): Promise<void> => {
    if ((await stat(directory)).dev !== device) await stat(join(directory, UNFINISHED))
  }

  const makeFolder = async (path: string): Promise<void> => {
    if (path === directory) return requireOurs()
    await folder(dirname(path))
    await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    await syncFolder(dirname(path))
  }
  /** Once for all who need it at the same time; one that failed is made again. */
  const folder = (path: string): Promise<void> => {
    const known = folders.get(path)
    if (known) return known
    const made = makeFolder(path)
    folders.set(path, made)
    made.catch(() => folders.delete(path))
    return made
  }

  /** A folder that somebody removed can be made again, but by the next one. */
  const orForget = async (work: Promise<void>): Promise<void> => {
    try {
      await work
    } catch (error) {
      folders.clear()
      throw error
    }
  }

  const write = async (key: string, bytes: Uint8Array): Promise<void> => {
    const path = join(directory, fileOf(key))
    await folder(dirname(path))
    const unfinished = await writeUnfinished(basename(path), bytes)
    try {
      await rename(unfinished, path)
    } catch (error) {
      await rm(unfinished, { force: true })
      throw error
    }
    await syncFolder(dirname(path))
  }

  const writeUnfinished = async (name: string, bytes: Uint8Array): Promise<string> => {
    await folder(join(directory, UNFINISHED))
    const path = join(directory, UNFINISHED, `${name}.${randomBytes(4).toString('hex')}`)
    const file = await open(path, 'wx', 0o600)
    try {
      await file.writeFile(bytes)
      await file.sync()
    } catch (error) {
      await rm(path, { force: true })
      throw error
    } finally {
      await file.close()
    }
    return path
  }

  const probe = async () => rm(await writeUnfinished('probe', PROBE))

  return Object.assign((key: string, bytes: Uint8Array) => orForget(write(key, bytes)), {
    probe: () => orForget(probe()),
  })
}

const PROBE = Buffer.alloc(4_096)

export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** No write takes this long: whoever began it is gone. */
const FORGOTTEN_MS = 3_600_000

export async function sweepUnfinished(directory: string, nowMs: number): Promise<void> {
  const folder = join(directory, UNFINISHED)
  const names = await readdir(folder).catch(() => [])
  for (const name of names) {
    const path = join(folder, name)
    const found = await stat(path).catch(() => undefined)
    if (found && nowMs - found.mtimeMs >= FORGOTTEN_MS) await rm(path, { force: true })
  }
}
