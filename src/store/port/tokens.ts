import type { AuditEntry } from './audit.ts'

/** Tokens by their digests: a reader of the database learns no token. */
export interface TokenStore {
  createToken(input: NewToken & { readonly audit: AuditEntry }): Promise<number>
  /** Also returns expired and revoked tokens: the caller must check. */
  findToken(hash: string): Promise<TokenRecord | null>
  /** Newest first; of one project, or with null all of them. */
  listTokens(input: { projectId: number | null }): Promise<readonly TokenRecord[]>
  /**
   * Revokes tokens that have expired by now, as of that time, so that they stay expired whatever
   * the clock is set to. The caller decides when the clock can be trusted for that.
   */
  expireTokens(): Promise<void>
  /** False if there is none with this id in the project, or it was revoked already. */
  revokeToken(input: { id: number; projectId: number | null; audit: AuditEntry }): Promise<boolean>
  /** A hint for display only: the last write wins, and a lost one does no harm. */
  touchTokens(uses: readonly { readonly id: number; readonly at: number }[]): Promise<void>
}

export interface NewToken {
  /** Null: a token of the installation, which may name any project. */
  readonly projectId: number | null
  readonly name: string
  readonly role: string
  readonly hash: string
  /** The last few characters, for recognising the token. */
  readonly ending: string
  readonly expiresAt: number | null
  readonly createdBy: number | null
}

export interface TokenRecord extends NewToken {
  readonly id: number
  readonly createdAt: number
  readonly revokedAt: number | null
  readonly lastUsedAt: number | null
}
