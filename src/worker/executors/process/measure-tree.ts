import { lstat } from 'node:fs/promises'
import { type DirectoryHandle, withDirectory } from './directory-handle.ts'

/** A file system remembers something even for an empty file. */
const LEAST_BYTES = 512
const BLOCK_BYTES = 512
/** Each level needs a file open while those below are looked at. */
const MOST_DEPTH = 128

/**
 * What lies in a directory takes on its disk, in bytes. Stops as soon as it is more than `most`: so
 * it never looks at more than that can hold. What cannot be looked into counts for itself.
 */
export async function measureTree(path: string, most: number): Promise<number> {
  return measure(Buffer.from(path), most, 0)
}

async function measure(path: Buffer, most: number, depth: number): Promise<number> {
  // Nobody needs so many levels, except to hide something.
  if (depth > MOST_DEPTH) return most + 1
  return withDirectory(path, (directory) => measureIn(directory, most, depth)).catch(() => 0)
}

async function measureIn(directory: DirectoryHandle, most: number, depth: number): Promise<number> {
  const inner: Buffer[] = []
  let bytes = 0
  for await (const entry of await directory.entries()) {
    const name = entry.name as unknown as Buffer
    const found = await lstat(directory.at(name)).catch(() => undefined)
    if (!found) continue
    bytes += Math.max(LEAST_BYTES, found.blocks * BLOCK_BYTES)
    if (bytes > most) return bytes
    if (found.isDirectory()) inner.push(name)
  }
  for (const name of inner) {
    bytes += await measure(directory.at(name), most - bytes, depth + 1)
    if (bytes > most) return bytes
  }
  return bytes
}
