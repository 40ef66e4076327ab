import { BlobError, type Blobs } from '../../blobs/port.ts'
import type { Clock } from '../../core/clock.ts'

export type BlobOperation = 'put' | 'get' | 'delete' | 'list'

/** The figures of one operation. */
export interface BlobFigures {
  readonly operation: BlobOperation
  /** `ok`, or the kind of failure. */
  readonly outcome: string
  readonly tookMs: number
  readonly bytes: number
}

/** Wraps a blob store and reports every operation. */
export function measureBlobs(
  blobs: Blobs,
  { clock, onBlob }: { clock: Pick<Clock, 'mono'>; onBlob(figures: BlobFigures): void },
): Blobs {
  const measure = async <T>(
    operation: BlobOperation,
    work: () => Promise<T>,
    bytesOf: (answer: T) => number = () => 0,
  ): Promise<T> => {
    const sentMono = clock.mono()
    const report = (outcome: string, bytes: number) =>
      onBlob({ operation, outcome, tookMs: clock.mono() - sentMono, bytes })
    try {
      const answer = await work()
      report('ok', bytesOf(answer))
      return answer
    } catch (error) {
      report(error instanceof BlobError ? error.kind : 'unavailable', 0)
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
