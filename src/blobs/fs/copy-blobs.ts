import { constants } from 'node:fs'
import { mkdir, open, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { requireIntact } from '../key.ts'
import { BlobError } from '../port.ts'
import { syncFolder } from './file-writer.ts'
import { UNFINISHED } from './layout.ts'
import { isMissingFile } from './blob-error.ts'

export interface CopiedBlobs {
  readonly copied: number
  readonly bytes: number
  /** Blobs whose digest does not match; they are not copied. */
  readonly damaged: readonly string[]
}

/** Copies missing blobs from one directory to another, and checks each against its digest. */
export async function copyBlobs(
  from: string,
  to: string,
  onCopied: (bytes: number) => void = () => {},
): Promise<CopiedBlobs> {
  let copied = 0
  let bytes = 0
  const damaged: string[] = []
  for (const area of await foldersIn(from)) {
    for (const fan of await foldersIn(join(from, area))) {
      const target = join(to, area, fan)
      await mkdir(target, { recursive: true, mode: 0o700 })
      const known = new Set(await readdir(target))
      const names = (await readdir(join(from, area, fan))).filter((name) => !known.has(name))
      for (const name of names) {
        const found = await readBlob(join(from, area, fan, name), `${area}/${name}`)
        if (found === 'damaged') damaged.push(`${area}/${name}`)
        if (typeof found === 'string') continue
        await writeWhole(join(target, name), found)
        copied += 1
        bytes += found.length
        onCopied(found.length)
      }
      if (names.length > 0) await syncFolder(target)
    }
  }
  return { copied, bytes, damaged }
}

/** A running server deletes blobs of deleted runs: a blob that disappears is not needed. */
async function readBlob(path: string, key: string): Promise<Uint8Array | 'gone' | 'damaged'> {
  try {
    const bytes = await readFile(path, { flag: constants.O_RDONLY | constants.O_NOFOLLOW })
    requireIntact(key, bytes, path)
    return bytes
  } catch (error) {
    if (isMissingFile(error)) return 'gone'
    if (error instanceof BlobError) return 'damaged'
    throw error
  }
}

async function writeWhole(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function foldersIn(path: string): Promise<string[]> {
  try {
    const found = await readdir(path, { withFileTypes: true })
    return found.flatMap((one) => (one.isDirectory() && one.name !== UNFINISHED ? [one.name] : []))
  } catch (error) {
    if (isMissingFile(error)) return []
    throw error
  }
}
