/** What attempts printed. Chunks are kept as long as their run is. */
export interface LogStore {
  /**
   * Stores chunks in one transaction; those of one attempt must be numbered one after the other. One
   * verdict each, in order.
   */
  appendLog(chunks: readonly LogChunk[]): Promise<readonly LogVerdict[]>
  /** Chunks of an attempt from a number on, in order. */
  logChunks(input: {
    runId: number
    fence: number
    from: number
    limit: number
  }): Promise<readonly StoredChunk[]>
  /** How much there is so far. */
  logEnd(input: { runId: number; fence: number }): Promise<LogEnd>
  /** The number of the chunk that holds a line, counted from 0; null if no chunk does. */
  findLine(input: { runId: number; fence: number; line: number }): Promise<number | null>
  /**
   * Of the chunks from one number up to another, those whose filter has all of these bits set, and
   * those that have no filter. In order.
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
  /** Ends of lines in it. */
  readonly lines: number
  /** Bits by which a search leaves it out, counted from the lowest of the first byte. */
  readonly trigrams: Uint8Array | null
  /** Its entries, never looked into. */
  readonly packed: Uint8Array
}

export interface StoredChunk extends Omit<LogChunk, 'runId' | 'fence' | 'trigrams' | 'packed'> {
  readonly packed: Buffer
  /** Ends of lines before it. */
  readonly firstLine: number
}

/**
 * `stored`: how many chunks of the attempt there are now, whether this one was new, known already or
 * ahead of its turn. `stale`: the attempt is not under way with this fence.
 */
export type LogVerdict = { readonly stored: number } | 'stale'
