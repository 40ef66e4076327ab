import type { WireFailure } from '../connection/store-errors.ts'
import type { OperationName } from '../engine/engine-operations.ts'

/** Messages between the store and its database thread. One request per call, in order. */
export interface ThreadRequest {
  readonly id: number
  readonly operation: OperationName | 'close'
  readonly args: readonly unknown[]
  /** The time to use when the clock is not the system's: a function cannot cross to the thread. */
  readonly now?: number
  /** The time the node expects the clock to show. */
  readonly expected?: number
}

export type ThreadMessage =
  | { readonly kind: 'open'; readonly version: string }
  | { readonly kind: 'not-open'; readonly failure: WireFailure }
  | { readonly kind: 'done'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failed'; readonly id: number; readonly failure: WireFailure }
  | { readonly kind: 'fatal'; readonly failure: WireFailure }
