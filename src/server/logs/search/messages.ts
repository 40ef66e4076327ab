import type { LogQuery } from './pattern.ts'
import type { Hit, OpenLine, ScanRange } from './scan.ts'

/** A few chunks to search, with all necessary state: the search thread is stateless. */
export interface ScanOrder {
  readonly query: LogQuery
  readonly span: ScanRange
  readonly open: readonly OpenLine[]
  readonly chunks: readonly { readonly firstLine: number; readonly packed: Uint8Array }[]
  /** These are the last chunks. */
  readonly isEnd: boolean
}

export interface ScanReport {
  readonly hits: readonly Hit[]
  readonly open: readonly OpenLine[]
  readonly nextLine: number
  /**
   * The last searched chunk; if the limit of hits was reached, the chunk that reached it. `open`:
   * the lines that were still open before this chunk.
   */
  readonly last: { readonly nth: number; readonly open: readonly OpenLine[] }
}
