import { type BlobRows, StoreError } from '../../store/port.ts'
import { keyFor, requireIntact, requireKey } from '../key.ts'
import { BlobError, type Blobs } from '../port.ts'

/** Larger than any blob. */
const MAX_BLOB_BYTES = 2 ** 30

/** Stores blobs as rows of the store, for several nodes that share nothing else. */
export function createRowBlobs(store: BlobRows & { readonly version: string }): Blobs {
  const place = `rows of ${store.version}`
  const guard = <T>(what: string, work: Promise<T>) =>
    work.catch((error: unknown) => {
      if (!(error instanceof StoreError)) throw error
      const trouble = error.trouble === 'full' ? 'full' : 'unavailable'
      throw new BlobError(trouble, `${what}: ${error.message}`, {
        cause: error,
        freeSpace: error.message,
      })
    })

  return {
    kind: 'store',
    place,

    async put(name, bytes) {
      const key = keyFor(name, bytes)
      await guard(`the blob ${key} cannot be written`, store.putBlob({ key, bytes }))
      return key
    },

    async get(key, part) {
      const { from, length } = part ?? { from: 0, length: MAX_BLOB_BYTES }
      const asked = store.getBlob({ key: requireKey(key), from, length })
      const bytes = await guard(`the blob ${key} cannot be read`, asked)
      if (!bytes) throw new BlobError('missing', `the blob ${key} is not among the ${place}`)
      if (!part) requireIntact(key, bytes, place)
      return bytes
    },

    delete: (keys) => guard('blobs cannot be deleted', store.deleteBlobs(keys.map(requireKey))),

    async list({ area, after, olderThanMs, limit }) {
      const asked = store.listBlobs({ prefix: `${area}/`, after: after ?? '', limit })
      const rows = await guard('blobs cannot be listed', asked)
      const old = rows.filter(({ ageMs }) => ageMs >= olderThanMs)
      const last = rows.length === limit ? rows.at(-1) : undefined
      return { keys: old.map(({ key }) => key), next: last?.key ?? null }
    },

    // The store's own health check covers writes.
    check: async () => {},
  }
}
