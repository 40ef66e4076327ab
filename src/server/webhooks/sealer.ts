import { randomBytes } from 'node:crypto'
import type { SecretStore } from '../../store/port.ts'
import { auditEntryFor, type RequestedBy } from '../identity/requested-by.ts'
import type { Vault } from '../secrets/vault.ts'

/** Keeps the secrets of webhooks from readers of the database. */
export interface Sealer {
  /** Stores a secret, and returns what stands for it. */
  seal(by: RequestedBy, projectId: number, webhook: string, secret: string): Promise<string>
  /** Fails if this node cannot decrypt it. */
  open(projectId: number, sealed: readonly string[]): Promise<string[]>
  /** The secret is no longer needed. */
  discard(by: RequestedBy, projectId: number, sealed: string): Promise<void>
}

/**
 * Stored together with the secrets of runs, so that a key rotation covers them too. Runs cannot use
 * them: names of their secrets contain no dots.
 */
export function createSealer(vault: Vault, store: Pick<SecretStore, 'removeSecret'>): Sealer {
  return {
    async seal(by, projectId, webhook, secret) {
      const name = `.webhook.${webhook}.${randomBytes(6).toString('hex')}`
      await vault.put({ projectId, name }, secret, auditEntryFor(by, projectId, 'secret.put', name))
      return name
    },

    async open(projectId, sealed) {
      const found = await vault.reveal(sealed.map((name) => ({ projectId, name })))
      return found.map((one) => {
        if (one.kind === 'value') return one.value
        throw new Error('its secret cannot be opened: the key is missing, or it was changed')
      })
    },

    async discard(by, projectId, name) {
      const audit = auditEntryFor(by, projectId, 'secret.delete', name)
      await store.removeSecret({ projectId, name, audit })
    },
  }
}
