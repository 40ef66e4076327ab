import type { AuditEntry } from './audit.ts'

/** Tokens by their digests: whoever reads the database learns no token. */
export interface TokenStore {
  createToken(input: NewToken & { readonly audit: AuditEntry }): Promise<number>
  /** Expired and revoked ones too: whoever asks must look. */
  findToken(hash: string): Promise<TokenRecord | null>
  /** Newest first; of one project, or with null all of them. */
  listTokens(input: { projectId: number | null }): Promise<readonly TokenRecord[]>
  /** False if there is none with this id in the project, or it was revoked before. */
  revokeToken(input: { id: number; projectId: number | null; audit: AuditEntry }): Promise<boolean>
  /** A hint for people, no more: later ones win, lost ones are not missed. */
  touchTokens(uses: readonly { readonly id: number; readonly at: number }[]): Promise<void>
}

export interface NewToken {
  /** Null: a token of the installation, which may name any project. */
  readonly projectId: number | null
  readonly name: string
  readonly role: string
  readonly hash: string
  /** The last few characters, by which people recognise it. */
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
