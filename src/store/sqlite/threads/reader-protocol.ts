import type { WireFailure } from '../connection/store-errors.ts'
import type { ListQueryName } from '../operations/operations.ts'

/** Messages between the store and a reader thread. */
export interface ReadRequest {
  readonly id: number
  readonly operation: ListQueryName | 'close'
  readonly args: readonly unknown[]
}

export type ReadMessage =
  | { readonly kind: 'done'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failed'; readonly id: number; readonly failure: WireFailure }
  | { readonly kind: 'fatal'; readonly failure: WireFailure }
