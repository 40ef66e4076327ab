import { randomBytes } from 'node:crypto'
import type { SecretStore } from '../../store/port.ts'
import { auditOf, type By } from '../identity/requested-by.ts'
import type { Vault } from '../secrets/vault.ts'

/** How the secrets of webhooks are kept from whoever reads the database. */
export interface Sealer {
  /** Keeps a secret, and returns what stands for it. */
  seal(by: By, projectId: number, webhook: string, secret: string): Promise<string>
  /** Fails if it cannot be opened here. */
  open(projectId: number, sealed: readonly string[]): Promise<string[]>
  /** It is not needed any more. */
  discard(by: By, projectId: number, sealed: string): Promise<void>
}

/**
 * With the secrets of runs, so that whoever exchanges their keys exchanges these too. No run can ask
 * for them: names of theirs have no dots.
 */
export function createSealer(vault: Vault, store: Pick<SecretStore, 'removeSecret'>): Sealer {
  return {
    async seal(by, projectId, webhook, secret) {
      const name = `.webhook.${webhook}.${randomBytes(6).toString('hex')}`
      await vault.put({ projectId, name }, secret, auditOf(by, projectId, 'secret.put', name))
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
      const audit = auditOf(by, projectId, 'secret.delete', name)
      await store.removeSecret({ projectId, name, audit })
    },
  }
}
