import { BlobError, type Blobs } from '../../blobs/port.ts'
import type { Clock } from '../../core/clock.ts'

export type BlobOperation = 'put' | 'get' | 'delete' | 'list'

/** What there is to count about one operation. */
export interface BlobFigures {
  readonly operation: BlobOperation
  /** `ok`, or what kind of trouble it was. */
  readonly outcome: string
  readonly tookMs: number
  readonly bytes: number
}

/** The same blobs, and each operation is told. */
export function measured(
  blobs: Blobs,
  { clock, onBlob }: { clock: Pick<Clock, 'mono'>; onBlob(figures: BlobFigures): void },
): Blobs {
  const measure = async <T>(
    operation: BlobOperation,
    work: () => Promise<T>,
    bytesOf: (answer: T) => number = () => 0,
  ): Promise<T> => {
    const sentMono = clock.mono()
    const tell = (outcome: string, bytes: number) =>
      onBlob({ operation, outcome, tookMs: clock.mono() - sentMono, bytes })
    try {
      const answer = await work()
      tell('ok', bytesOf(answer))
      return answer
    } catch (error) {
      tell(error instanceof BlobError ? error.trouble : 'unavailable', 0)
      throw error
    }
  }
  return {
    kind: blobs.kind,
    place: blobs.place,
    put: (name, bytes) =>
      measure(
        'put',
        () => blobs.put(name, bytes),
        () => bytes.length,
      ),
    get: (key, part) =>
      measure(
        'get',
        () => blobs.get(key, part),
        (bytes) => bytes.length,
      ),
    delete: (keys) => measure('delete', () => blobs.delete(keys)),
    list: (input) => measure('list', () => blobs.list(input)),
    check: () => blobs.check(),
  }
}
