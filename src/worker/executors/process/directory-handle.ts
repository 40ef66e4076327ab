import { type Dir, constants } from 'node:fs'
import { chmod, type FileHandle, open, opendir } from 'node:fs/promises'

/**
 * A directory that was opened, and not a path to one. What lies in it is reached through the handle,
 * so nobody who exchanges a directory for a link can lead us out of it.
 */
export interface DirectoryHandle {
  /** The path of something in it, for one call. Names are bytes: not all of them are text. */
  at(name: Buffer): Buffer
  entries(): Promise<Dir>
}

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants
/** Linux: a handle on something that need not be readable. */
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
      // Text in Node's types; with this encoding names are bytes.
      entries: () => opendir(base, { encoding: 'buffer' as BufferEncoding, bufferSize: 256 }),
    })
  } finally {
    await handle.close()
  }
}

/** Gives a directory back to its owner, whatever its mode forbids. */
export async function unlockDirectory(path: Buffer): Promise<void> {
  // Modes mean nothing to the administrator.
  if (process.getuid?.() === 0) return
  if (!hasHandles) return chmod(path, 0o700)
  const handle = await open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW)
  try {
    await chmod(pathOf(handle, path), 0o700)
  } finally {
    await handle.close()
  }
}

/** Elsewhere than on Linux there is no way to say it, and the path must do. */
function pathOf(handle: FileHandle, path: Buffer): Buffer {
  return hasHandles ? Buffer.from(`/proc/self/fd/${handle.fd}`) : path
}
