import { join } from 'node:path'
import type { Blobs } from '../../blobs/port.ts'
import type { Store } from '../../store/port.ts'

export const BLOB_PLACES = ['fs', 'store'] as const
export type BlobPlace = (typeof BLOB_PLACES)[number]

/** The only module that imports the blob storages; each is loaded on demand. */
export async function openBlobs(
  place: BlobPlace,
  { store, dataDir, now }: { store: Store; dataDir: string; now: () => number },
): Promise<Blobs> {
  if (place === 'fs') {
    const { openFileBlobs } = await import('../../blobs/fs/blobs.ts')
    return openFileBlobs({ directory: join(dataDir, 'blobs'), now })
  }
  const { createRowBlobs } = await import('../../blobs/store/blobs.ts')
  return createRowBlobs(store)
}

/** SQLite means one node with its own disk; several nodes share their database. */
export function defaultBlobPlace(storeUrl: string): BlobPlace {
  return storeUrl.startsWith('sqlite:') && storeUrl !== 'sqlite::memory:' ? 'fs' : 'store'
}
