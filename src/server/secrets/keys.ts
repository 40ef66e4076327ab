import type { KeyObject } from 'node:crypto'

/** What secrets are sealed with. A `KeyObject` shows nothing of itself when it is printed. */
export interface SecretKey {
  readonly id: string
  readonly key: KeyObject
}

/** Where a node gets its keys from: a file, in practice. */
export interface KeySource {
  /** What to call it when something is wrong with it. */
  readonly name: string
  /** Best first: that one seals, all of them open. Empty if there is nothing. */
  read(): Promise<readonly SecretKey[]>
  /** Makes the first key. Absent where other nodes would need the same one. */
  create?(): Promise<readonly SecretKey[]>
}
