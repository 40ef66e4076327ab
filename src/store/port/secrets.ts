import type { AuditEntry } from './audit.ts'

/** Secrets as the store sees them: sealed. The store has no key and learns no value. */
export interface SecretStore {
  /**
   * Replaces the value of a secret. The key it is sealed with is recorded in the same transaction,
   * so that a node can check at its start whether the configured keys suffice.
   */
  putSecret(input: {
    projectId: number
    name: string
    sealed: string
    key: SecretKeyCheck
    audit: AuditEntry
  }): Promise<SecretRecord>
  /** False if there is no such secret. */
  removeSecret(input: { projectId: number; name: string; audit: AuditEntry }): Promise<boolean>
  /** In order of name, those after `after`. */
  listSecrets(input: {
    projectId: number
    after: string
    limit: number
  }): Promise<readonly SecretRecord[]>
  /** One answer per key, in order; null where there is no such secret. */
  findSecrets(keys: readonly SecretName[]): Promise<readonly (SealedSecret | null)[]>
  /** Secrets sealed with any other key, in order of project and name, after `after`. */
  secretsWithoutKey(input: {
    keyId: string
    after: SecretName
    limit: number
  }): Promise<readonly SealedSecret[]>
  /**
   * Replaces the sealed text of secrets that are unchanged since they were read. Returns how many
   * were.
   */
  resealSecrets(input: {
    key: SecretKeyCheck
    secrets: readonly (SealedSecret & { readonly resealed: string })[]
    /** Written if any secret was resealed. */
    audit?: AuditEntry
  }): Promise<number>
  /** Every recorded key, and how many secrets are sealed with it. */
  secretKeys(): Promise<readonly SecretKeyRecord[]>
  /** Deletes the keys that no secret is sealed with any more, except this one. */
  forgetUnusedKeys(input: { except: string }): Promise<void>
  /** Records which keys a node can open. */
  announceKeys(input: { node: number; keys: readonly string[] }): Promise<void>
  /** Names of live nodes that have not announced that they can open this key. */
  nodesWithoutKey(input: { keyId: string }): Promise<readonly string[]>
}

export interface SecretName {
  readonly projectId: number
  readonly name: string
}

export interface SealedSecret extends SecretName {
  readonly keyId: string
  readonly sealed: string
}

export interface SecretRecord extends SecretName {
  readonly version: number
  readonly keyId: string
  readonly updatedAt: number
  readonly updatedBy: number | null
}

/** A key, and a known text sealed with it: a node that can open the text has the same key. */
export interface SecretKeyCheck {
  readonly id: string
  readonly check: string
}

export interface SecretKeyRecord extends SecretKeyCheck {
  readonly secrets: number
}
