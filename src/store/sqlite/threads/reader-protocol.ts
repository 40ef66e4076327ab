import type { WireFailure } from '../connection/store-errors.ts'
import type { QueryName } from '../engine/queries.ts'

/** Messages between the store and a reader thread. */
export interface ReadRequest {
  readonly id: number
  readonly operation: QueryName | 'close'
  readonly args: readonly unknown[]
}

export type ReadMessage =
  | { readonly kind: 'done'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failed'; readonly id: number; readonly failure: WireFailure }
  | { readonly kind: 'fatal'; readonly failure: WireFailure }
