import { rename, rmdir, unlink } from 'node:fs/promises'
import { type DirectoryHandle, unlockDirectory, withDirectory } from './directory-handle.ts'

/** Bounds what somebody costs us who fills a directory while it is emptied. */
const ROUNDS = 100_000

/**
 * Removes a directory and everything in it: also what forbids it by its mode, what lies deeper than
 * any path could say, and what has no text for a name. Never what a link in it leads to.
 */
export async function removeTree(path: string): Promise<void> {
  // Often there is nothing in it, or nothing at all.
  if (await isRemoved(path)) return
  await unlockDirectory(Buffer.from(path))
  await withDirectory(Buffer.from(path), async (root) => {
    const empty = createEmptier(root)
    for (let round = 0; round < ROUNDS && (await empty()); round += 1);
  })
  await rmdir(path)
}

/**
 * One round through a directory, which says whether there may be more. Directories within directories
 * are moved up to the root and emptied there: so no depth needs more than two of them open.
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
    const { gone, problem } = await withDirectory(path, (inner) => each(inner, remove))
    // Whoever was met on the way out is met again in the next round.
    await rmdir(path).catch((error: Error) => {
      if (gone === 0) throw problem ?? error
    })
  }

  return async () => {
    const { seen, gone, problem } = await each(root, remove)
    if (gone === 0 && problem !== undefined) throw problem
    return seen > 0
  }
}

type Remove = (from: DirectoryHandle, name: Buffer, isDirectory: boolean) => Promise<void>

/** Goes on behind what cannot be removed: the rest should be gone all the same. */
async function each(directory: DirectoryHandle, remove: Remove) {
  let seen = 0
  let gone = 0
  let problem: Error | undefined
  for await (const entry of await directory.entries()) {
    seen += 1
    try {
      await remove(directory, entry.name as unknown as Buffer, entry.isDirectory())
      gone += 1
    } catch (error) {
      problem = error as Error
    }
  }
  return { seen, gone, problem }
}

async function isRemoved(path: string): Promise<boolean> {
  try {
    await rmdir(path)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}

/** False if it is a directory: not every file system says so in its list. */
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
