import { randomBytes } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pathOfKey, UNFINISHED } from './layout.ts'

/**
 * Writes files atomically and durably: a file is written and synced under a temporary name,
 * renamed, and its folder synced as well. A failed sync is never repeated on the same file, because
 * the kernel marks the lost pages as clean.
 */
export interface FileWriter {
  (key: string, bytes: Uint8Array): Promise<void>
  /** Writes a few bytes and removes them. */
  probe(): Promise<void>
}

/** `device`: the file system of the directory when it was opened. */
export function createFileWriter(directory: string, device: number): FileWriter {
  /** Folders that are known to be on disk. */
  const folders = new Map<string, Promise<void>>()

  /**
   * An emptied directory may be filled again. But the empty directory below an unmounted file
   * system looks the same: files written there would disappear when it is mounted again, and
   * existing ones would seem lost.
   */
  const requireSameDevice = async (): Promise<void> => {
    if ((await stat(directory)).dev !== device) await stat(join(directory, UNFINISHED))
  }

  const makeFolder = async (path: string): Promise<void> => {
    if (path === directory) return requireSameDevice()
    await folder(dirname(path))
    await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    await syncFolder(dirname(path))
  }
  /** Created once for concurrent callers; a failure is retried by the next one. */
  const folder = (path: string): Promise<void> => {
    const known = folders.get(path)
    if (known) return known
    const made = makeFolder(path)
    folders.set(path, made)
    made.catch(() => folders.delete(path))
    return made
  }

  /**
   * After a failure, the next write creates the folders again, because they may have been removed.
   */
  const forgetOnFailure = async (work: Promise<void>): Promise<void> => {
    try {
      await work
    } catch (error) {
      folders.clear()
      throw error
    }
  }

  const write = async (key: string, bytes: Uint8Array): Promise<void> => {
    const path = join(directory, pathOfKey(key))
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

  return Object.assign((key: string, bytes: Uint8Array) => forgetOnFailure(write(key, bytes)), {
    probe: () => forgetOnFailure(probe()),
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

/** No write takes this long: the process that started it is gone. */
const ABANDONED_MS = 3_600_000

export async function sweepUnfinished(directory: string, nowMs: number): Promise<void> {
  const folder = join(directory, UNFINISHED)
  const names = await readdir(folder).catch(() => [])
  for (const name of names) {
    const path = join(folder, name)
    const found = await stat(path).catch(() => undefined)
    if (found && nowMs - found.mtimeMs >= ABANDONED_MS) await rm(path, { force: true })
  }
}
