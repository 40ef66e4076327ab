import type { Query } from './pattern.ts'
import type { Hit, OpenLine, Span } from './scan.ts'

/** A few chunks to search, with everything there is to know: whoever answers remembers nothing. */
export interface ScanOrder {
  readonly query: Query
  readonly span: Span
  readonly open: readonly OpenLine[]
  readonly chunks: readonly { readonly firstLine: number; readonly packed: Uint8Array }[]
  /** Nothing comes after these. */
  readonly isEnd: boolean
}

export interface ScanReport {
  readonly hits: readonly Hit[]
  readonly open: readonly OpenLine[]
  readonly nextLine: number
  /** The chunk that was searched last, the one that reached the limit if one did, and what was open before it. */
  readonly last: { readonly nth: number; readonly open: readonly OpenLine[] }
}
