import { PunctualError } from '../../core/errors.ts'
import type { LogChunk, LogStore, LogVerdict } from '../../store/port.ts'

/** Maximum packed size of one transaction: it must not keep ticks waiting. */
const BATCH_CHUNKS = 200
const BATCH_BYTES = 4 * 1024 * 1024
/** Beyond this size the writer refuses output; workers keep it and try again later. */
const MOST_WAITING = 64 * 1024 * 1024

export interface LogWriter {
  /** Durable when it resolves; one verdict per chunk. */
  append(chunks: readonly LogChunk[]): Promise<readonly LogVerdict[]>
}

interface Waiting {
  readonly chunk: LogChunk
  resolve(verdict: LogVerdict): void
  reject(error: unknown): void
}

/** Batches form by themselves: chunks that arrive during one transaction go into the next. */
export function createLogWriter(store: Pick<LogStore, 'appendLog'>): LogWriter {
  let waiting: Waiting[] = []
  let length = 0
  let isWriting = false

  const take = (): Waiting[] => {
    const batch: Waiting[] = []
    const later: Waiting[] = []
    /** Per attempt: the chunk that would continue after the current batch. */
    const nexts = new Map<string, number>()
    let size = 0
    for (const item of waiting) {
      const attempt = `${item.chunk.runId}/${item.chunk.fence}`
      const { chunk } = item.chunk
      const fits = batch.length < BATCH_CHUNKS && size < BATCH_BYTES
      if (fits && (nexts.get(attempt) ?? chunk) === chunk) {
        batch.push(item)
        nexts.set(attempt, chunk + 1)
        size += item.chunk.packed.length
      } else later.push(item)
    }
    waiting = later
    length -= size
    return batch
  }

  const write = async (batch: readonly Waiting[]) => {
    try {
      const verdicts = await store.appendLog(batch.map(({ chunk }) => chunk))
      for (const [index, item] of batch.entries()) item.resolve(verdicts[index] ?? 'stale')
    } catch (error) {
      for (const item of batch) item.reject(error)
    }
  }

  const writeAll = async () => {
    if (isWriting) return
    isWriting = true
    while (waiting.length > 0) await write(take())
    isWriting = false
  }

  return {
    append(chunks) {
      if (length > MOST_WAITING) {
        throw new PunctualError('overloaded', `${length} bytes of output are waiting already`)
      }
      const verdicts = chunks.map(
        (chunk) =>
          new Promise<LogVerdict>((resolve, reject) => {
            waiting.push({ chunk, resolve, reject })
            length += chunk.packed.length
          }),
      )
      void writeAll()
      return Promise.all(verdicts)
    },
  }
}
