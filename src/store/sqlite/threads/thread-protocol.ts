import type { WireFailure } from '../connection/store-errors.ts'
import type { VerbName } from '../operations/operations.ts'

/** What the store and its database thread say to each other. One request per call, in order. */
export interface Request {
  readonly id: number
  readonly verb: VerbName | 'close'
  readonly args: readonly unknown[]
  /** The time to use, when the clock is not the system's: a function cannot cross over. */
  readonly now?: number
}

export type Message =
  | { readonly kind: 'open'; readonly version: string }
  | { readonly kind: 'not-open'; readonly failure: WireFailure }
  | { readonly kind: 'done'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failed'; readonly id: number; readonly failure: WireFailure }
  | { readonly kind: 'fatal'; readonly failure: WireFailure }
