import type { Role } from '../../core/permission.ts'

/** The caller of a request. */
export interface Caller {
  /** Null for the token of the installation itself. */
  readonly tokenId: number | null
  readonly name: string
  readonly role: Role
  /** The project it belongs to; null if it may name any. */
  readonly project: string | null
}

/**
 * The holder of the token written at the first start, or a caller of a server that is open to its
 * machine.
 */
export const ROOT: Caller = { tokenId: null, name: 'root', role: 'admin', project: null }
