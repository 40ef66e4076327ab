import type { Blobs } from '../../blobs/port.ts'
import type { WireStorage } from '../../core/wire/views.ts'
import type { Store } from '../../store/port.ts'
import type { StoreHealth } from '../health/store-health.ts'

/** Where this node keeps its data, and whether it is writable, for operators. */
export interface StorageAdmin {
  show(): Promise<WireStorage>
}

export function createStorageAdmin({
  blobs,
  inlineBytes,
  store,
  health,
}: {
  readonly store: Pick<Store, 'kind' | 'location' | 'freeBytes'>
  readonly health: Pick<StoreHealth, 'check'>
  readonly blobs: Pick<Blobs, 'kind' | 'place' | 'check'>
  readonly inlineBytes: number
}): StorageAdmin {
  return {
    async show() {
      const { kind, place } = blobs
      const reason = await blobs.check().then(
        () => null,
        (error: Error) => error.message,
      )
      const failure = await health.check()
      return {
        store: {
          kind: store.kind,
          place: store.location,
          writable: failure === null,
          reason: failure?.reason ?? null,
          free_bytes: await store.freeBytes(),
        },
        inline_bytes: inlineBytes,
        blobs: { kind, place, writable: reason === null, reason },
      }
    },
  }
}
