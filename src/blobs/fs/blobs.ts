import { constants } from 'node:fs'
import { mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { keyFor, requireIntact, requireKey } from '../key.ts'
import { BlobError, type BlobPart, type Blobs } from '../port.ts'
import { createFileWriter, sweepUnfinished, syncFolder } from './file-writer.ts'
import { SHARDS, pathOfKey, UNFINISHED } from './layout.ts'
import { isMissingFile, toBlobError } from './blob-error.ts'

export interface FileBlobsOptions {
  readonly directory: string
  /** Wall time of the machine that also dates the files. */
  now(): number
}

/** Stores blobs as files in one directory, for an installation with one node. */
export async function openFileBlobs({ directory, now }: FileBlobsOptions): Promise<Blobs> {
  const place = directory
  const guard = <T>(what: string, work: () => Promise<T>) =>
    work().catch((error: unknown) => {
      throw toBlobError(error, what, place)
    })
  const write = await guard('blobs cannot be kept', async () => {
    await mkdir(join(directory, UNFINISHED), { recursive: true, mode: 0o700 })
    await syncFolder(dirname(directory))
    await syncFolder(directory)
    await sweepUnfinished(directory, now())
    return createFileWriter(directory, (await stat(directory)).dev)
  })

  /** A missing file is lost only if the storage is there: otherwise it may be unmounted. */
  const find = async (key: string, part: BlobPart | undefined): Promise<Uint8Array> => {
    const path = join(directory, pathOfKey(requireKey(key)))
    const found = await readIfThere(path, part)
    if (found) return found
    await stat(join(directory, UNFINISHED))
    // The storage may have come back meanwhile.
    const back = await readIfThere(path, part)
    if (back) return back
    throw new BlobError('missing', `the blob ${key} is not in ${place}`)
  }

  return {
    kind: 'fs',
    place,

    async put(name, bytes) {
      const key = keyFor(name, bytes)
      await guard(`the blob ${key} cannot be written`, () => write(key, bytes))
      return key
    },

    async get(key, part) {
      const bytes = await guard(`the blob ${key} cannot be read`, () => find(key, part))
      if (!part) requireIntact(key, bytes, place)
      return bytes
    },

    async delete(keys) {
      await guard('blobs cannot be deleted', async () => {
        for (const key of keys)
          await rm(join(directory, pathOfKey(requireKey(key))), { force: true })
      })
    },

    list: (input) =>
      guard('blobs cannot be listed', async () => {
        const keys: string[] = []
        let left = input.limit
        for (const fan of SHARDS) {
          const folder = `${input.area}/${fan}`
          if (input.after !== null && folder < input.after.slice(0, folder.length)) continue
          for (const name of await namesIn(join(directory, folder))) {
            const at = `${folder}/${name}`
            if (input.after !== null && at <= input.after) continue
            left -= 1
            const writtenAt = await dateOf(join(directory, at))
            if (writtenAt !== undefined && now() - writtenAt >= input.olderThanMs) {
              keys.push(`${input.area}/${name}`)
            }
            if (left === 0) return { keys, next: at }
          }
        }
        return { keys, next: null }
      }),

    check: () => guard('blobs cannot be written', () => write.probe()),
  }
}

async function readIfThere(
  path: string,
  part: BlobPart | undefined,
): Promise<Uint8Array | undefined> {
  try {
    return await read(path, part)
  } catch (error) {
    if (isMissingFile(error)) return undefined
    throw error
  }
}

const ITSELF = constants.O_RDONLY | constants.O_NOFOLLOW

async function read(path: string, part: BlobPart | undefined): Promise<Uint8Array> {
  if (!part) return readFile(path, { flag: ITSELF })
  const file = await open(path, ITSELF)
  try {
    const bytes = Buffer.allocUnsafe(part.length)
    let filled = 0
    while (filled < part.length) {
      const rest = part.length - filled
      const { bytesRead } = await file.read(bytes, filled, rest, part.from + filled)
      if (bytesRead === 0) break
      filled += bytesRead
    }
    return bytes.subarray(0, filled)
  } finally {
    await file.close()
  }
}

/** Sorted, so that the order is the same for every page. */
async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).toSorted()
  } catch (error) {
    if (isMissingFile(error)) return []
    throw error
  }
}

/** Undefined for a file that was deleted after the listing. */
async function dateOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs
  } catch (error) {
    if (isMissingFile(error)) return undefined
    throw error
  }
}
