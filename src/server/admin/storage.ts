import type { Blobs } from '../../blobs/port.ts'
import type { WireStorage } from '../../core/wire/views.ts'

/** Where this node keeps what is too large for a row, for those who look after it. */
export interface Storage {
  show(): Promise<WireStorage>
}

export function createStorage({
  blobs,
  inlineBytes,
}: {
  readonly blobs: Pick<Blobs, 'kind' | 'place' | 'check'>
  readonly inlineBytes: number
}): Storage {
  return {
    async show() {
      const { kind, place } = blobs
      const reason = await blobs.check().then(
        () => null,
        (error: Error) => error.message,
      )
      return {
        inline_bytes: inlineBytes,
        blobs: { kind, place, writable: reason === null, reason },
      }
    },
  }
}
