import type { KeyObject } from 'node:crypto'

/** A key that encrypts secrets. A `KeyObject` reveals nothing when it is printed. */
export interface SecretKey {
  readonly id: string
  readonly key: KeyObject
}

/** Where a node gets its keys from; usually a file. */
export interface KeySource {
  /** Name of the source for error messages. */
  readonly name: string
  /** Preferred key first: it encrypts, all of them decrypt. Empty if there is none. */
  read(): Promise<readonly SecretKey[]>
  /** Makes the first key. Absent where other nodes would need the same one. */
  create?(): Promise<readonly SecretKey[]>
}
