/** The output of attempts. Chunks are kept as long as their run. */
export interface LogStore {
  /**
   * Stores chunks in one transaction; the chunks of one attempt must be numbered consecutively. One
   * verdict per chunk, in order.
   */
  appendLog(chunks: readonly LogChunk[]): Promise<readonly LogVerdict[]>
  /** Chunks of an attempt from a number on, in order. */
  logChunks(input: {
    runId: number
    fence: number
    from: number
    limit: number
  }): Promise<readonly StoredChunk[]>
  /** How much output there is so far. */
  logEnd(input: { runId: number; fence: number }): Promise<LogEnd>
  /** The number of the chunk that holds a line, counted from 0; null if no chunk does. */
  findLine(input: { runId: number; fence: number; line: number }): Promise<number | null>
  /**
   * Among the chunks from one number up to another, those whose filter has all of these bits set,
   * and those without a filter. In order.
   */
  chunksLike(input: {
    runId: number
    fence: number
    from: number
    to: number
    bits: readonly number[]
  }): Promise<readonly number[]>
}

export interface LogEnd {
  readonly chunks: number
  readonly lines: number
}

export interface LogChunk {
  readonly runId: number
  readonly fence: number
  /** Counted from 0, without gaps. */
  readonly chunk: number
  /** Number of line ends in the chunk. */
  readonly lines: number
  /**
   * Filter bits by which a search skips the chunk, counted from the lowest bit of the first byte.
   */
  readonly trigrams: Uint8Array | null
  /** The log entries, opaque to the store. */
  readonly packed: Uint8Array
}

export interface StoredChunk extends Omit<LogChunk, 'runId' | 'fence' | 'trigrams' | 'packed'> {
  readonly packed: Buffer
  /** Number of line ends before the chunk. */
  readonly firstLine: number
}

/**
 * `stored`: how many chunks of the attempt there are now, whether this one was new, a repeat or
 * ahead of its turn. `stale`: the attempt is not under way with this fence.
 */
export type LogVerdict = { readonly stored: number } | 'stale'
