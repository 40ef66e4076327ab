import { rename, rmdir, unlink } from 'node:fs/promises'
import { type DirectoryHandle, unlockDirectory, withDirectory } from './directory-handle.ts'

/** Limits the work if a process keeps filling the directory while it is emptied. */
const ROUNDS = 100_000

/**
 * Removes a directory and everything in it, including entries with restrictive modes, paths deeper
 * than the path limit, and names that are not text. Never follows links.
 */
export async function removeTree(path: string): Promise<void> {
  // Often the directory is empty or missing.
  if (await isRemoved(path)) return
  await unlockDirectory(Buffer.from(path))
  await withDirectory(Buffer.from(path), async (root) => {
    const empty = createEmptier(root)
    for (let round = 0; round < ROUNDS && (await empty()); round += 1);
  })
  await rmdir(path)
}

/**
 * One pass through a directory; returns whether there may be more. Directories within directories
 * are moved up to the root and emptied there, so no depth needs more than two open at once.
 */
function createEmptier(root: DirectoryHandle): () => Promise<boolean> {
  let moved = 0

  const remove = async (from: DirectoryHandle, name: Buffer, isDirectory: boolean) => {
    const path = from.at(name)
    if (!isDirectory && (await isUnlinked(path))) return
    await unlockDirectory(path)
    if (from !== root) {
      moved += 1
      return rename(path, root.at(Buffer.from(`.${process.pid}.${moved}`)))
    }
    const { removed, problem } = await withDirectory(path, (inner) => each(inner, remove))
    // An entry that could not be moved is visited again in the next pass.
    await rmdir(path).catch((error: Error) => {
      if (removed === 0) throw problem ?? error
    })
  }

  return async () => {
    const { seen, removed, problem } = await each(root, remove)
    if (removed === 0 && problem !== undefined) throw problem
    return seen > 0
  }
}

type Remove = (from: DirectoryHandle, name: Buffer, isDirectory: boolean) => Promise<void>

/** Continues after entries that cannot be removed, to remove the rest. */
async function each(directory: DirectoryHandle, remove: Remove) {
  let seen = 0
  let removed = 0
  let problem: Error | undefined
  for await (const entry of await directory.entries()) {
    seen += 1
    try {
      await remove(directory, entry.name as unknown as Buffer, entry.isDirectory())
      removed += 1
    } catch (error) {
      problem = error as Error
    }
  }
  return { seen, removed, problem }
}

async function isRemoved(path: string): Promise<boolean> {
  try {
    await rmdir(path)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}

/** False if the entry is a directory: not every file system reports the type. */
async function isUnlinked(path: Buffer): Promise<boolean> {
  try {
    await unlink(path)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return true
    if (code === 'EISDIR' || code === 'EPERM') return false
    throw error
  }
}
