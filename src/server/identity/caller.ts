import type { Role } from '../../core/permission.ts'

/** Whoever a request comes from. */
export interface Caller {
  /** Null for the token of the installation itself. */
  readonly tokenId: number | null
  readonly name: string
  readonly role: Role
  /** The project it belongs to; null if it may name any. */
  readonly project: string | null
}

/** Who has the token that the first start wrote down, or calls a server that is open to its machine. */
export const ROOT: Caller = { tokenId: null, name: 'root', role: 'admin', project: null }
