import { type Dir, constants } from 'node:fs'
import { chmod, type FileHandle, open, opendir } from 'node:fs/promises'

/**
 * An open directory instead of a path. Its entries are reached through the handle, so replacing a
 * parent directory with a link cannot redirect the access.
 */
export interface DirectoryHandle {
  /**
   * The path of an entry, for one call. Names are bytes, because not all of them are valid text.
   */
  at(name: Buffer): Buffer
  entries(): Promise<Dir>
}

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants
/** Linux: a handle on a directory that need not be readable. */
const O_PATH = 0o10000000
const hasHandles = process.platform === 'linux'

export async function withDirectory<T>(
  path: Buffer,
  use: (directory: DirectoryHandle) => Promise<T>,
): Promise<T> {
  const handle = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  const base = pathOf(handle, path)
  const under = Buffer.concat([base, Buffer.from('/')])
  try {
    return await use({
      at: (name) => Buffer.concat([under, name]),
      // Node's types say text; with this encoding the names are bytes.
      entries: () => opendir(base, { encoding: 'buffer' as BufferEncoding, bufferSize: 256 }),
    })
  } finally {
    await handle.close()
  }
}

/** Restores the owner's access to a directory, whatever its mode is. */
export async function unlockDirectory(path: Buffer): Promise<void> {
  // Root ignores modes.
  if (process.getuid?.() === 0) return
  if (!hasHandles) return chmod(path, 0o700)
  const handle = await open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW)
  try {
    await chmod(pathOf(handle, path), 0o700)
  } finally {
    await handle.close()
  }
}

/** Only Linux has paths for open directories; elsewhere the plain path is used. */
function pathOf(handle: FileHandle, path: Buffer): Buffer {
  return hasHandles ? Buffer.from(`/proc/self/fd/${handle.fd}`) : path
}
