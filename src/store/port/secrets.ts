import type { AuditEntry } from './audit.ts'

/** Secrets as the store sees them: sealed. It has no key and learns no value. */
export interface SecretStore {
  /**
   * Puts a value in the place of the one before. The key it is sealed with is remembered in the same
   * transaction, so that every start can tell whether the keys at hand will do.
   */
  putSecret(input: {
    projectId: number
    name: string
    sealed: string
    key: SecretKeyCheck
    audit: AuditEntry
  }): Promise<SecretRecord>
  /** False if there is none. */
  removeSecret(input: { projectId: number; name: string; audit: AuditEntry }): Promise<boolean>
  /** In order of name, those after `after`. */
  listSecrets(input: {
    projectId: number
    after: string
    limit: number
  }): Promise<readonly SecretRecord[]>
  /** One answer for each, in order; null where there is none. */
  findSecrets(keys: readonly SecretName[]): Promise<readonly (SealedSecret | null)[]>
  /** Those sealed with any other key, in order of project and name, after `after`. */
  secretsWithoutKey(input: {
    keyId: string
    after: SecretName
    limit: number
  }): Promise<readonly SealedSecret[]>
  /** Exchanges the seal of secrets that are still as they were when they were read. How many were. */
  resealSecrets(input: {
    key: SecretKeyCheck
    secrets: readonly (SealedSecret & { readonly resealed: string })[]
    /** Written if any was. */
    audit?: AuditEntry
  }): Promise<number>
  /** Every key that something may be sealed with, and how many secrets are. */
  secretKeys(): Promise<readonly SecretKeyRecord[]>
  /** Forgets the keys that nothing is sealed with any more, except this one. */
  forgetUnusedKeys(input: { except: string }): Promise<void>
  /** A node says which keys it can open. */
  announceKeys(input: { node: number; keys: readonly string[] }): Promise<void>
  /** Names of nodes that are alive and have not said that they can open this key. */
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

/** A key, and something known that is sealed with it: whoever can open that has the same key. */
export interface SecretKeyCheck {
  readonly id: string
  readonly check: string
}

export interface SecretKeyRecord extends SecretKeyCheck {
  readonly secrets: number
}
