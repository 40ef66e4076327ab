import { lstat } from 'node:fs/promises'
import { type DirectoryHandle, withDirectory } from './directory-handle.ts'

/** A file system stores metadata even for an empty file. */
const LEAST_BYTES = 512
const BLOCK_BYTES = 512
/** Each level keeps a directory open while those below are measured. */
const MAX_DEPTH = 128

/**
 * The disk space of a directory's contents, in bytes. Stops as soon as it exceeds `most`, which
 * bounds the work. An unreadable directory counts only itself.
 */
export async function measureTree(path: string, most: number): Promise<number> {
  return measure(Buffer.from(path), most, 0)
}

async function measure(path: Buffer, most: number, depth: number): Promise<number> {
  // No job needs more levels, except to hide data.
  if (depth > MAX_DEPTH) return most + 1
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
