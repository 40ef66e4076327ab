import { PunctualError } from '../../core/errors.ts'
import type {
  AuditEntry,
  SealedSecret,
  SecretName,
  SecretRecord,
  SecretStore,
} from '../../store/port.ts'
import { type Keyring, openKeyring } from './keyring.ts'
import type { KeySource } from './keys.ts'

/** Decrypts secrets, only for as long as it takes to pass them on. */
export interface Vault {
  put(secret: SecretName, value: string, audit: AuditEntry): Promise<SecretRecord>
  /** For each name, in order: its value, or why there is none. */
  reveal(names: readonly SecretName[]): Promise<readonly Revealed[]>
  /**
   * Encrypts everything again with the preferred key. Returns how many secrets were, and which
   * could not be decrypted.
   */
  rotate(audit: AuditEntry): Promise<RotationResult>
  /** Throws the reason to refuse a start: keys are in use that this node lacks. */
  check(): Promise<void>
  /** Looks for new keys, and announces to other nodes which keys this one has. */
  announce(node: number): Promise<void>
}

export interface RotationResult {
  readonly keyId: string
  readonly resealed: number
  readonly broken: readonly string[]
}

export type Revealed =
  | { readonly kind: 'value'; readonly value: string }
  /** `keyless`: other nodes can decrypt it, this node lacks the key. */
  | { readonly kind: 'absent' | 'unreadable' | 'keyless' }

/** Secrets re-encrypted in one transaction. */
const PAGE = 50
const NO_KEYS: KeySource = { name: 'the server', read: async () => [] }

/** Refuses to open when there are secrets that these keys cannot decrypt. */
export async function openVault(store: SecretStore, source: KeySource = NO_KEYS): Promise<Vault> {
  const inUse = await store.secretKeys()
  const keyring = await openKeyring(source, inUse.length === 0)
  keyring.requireAll(inUse)
  return createVault(store, keyring)
}

function createVault(store: SecretStore, keyring: Keyring): Vault {
  let announced: string | undefined

  /** The best key that every node has: while a new key is being distributed, still the old one. */
  const sharedKey = async () => {
    const ids = keyring.ids()
    for (const keyId of ids) {
      if ((await store.nodesWithoutKey({ keyId })).length === 0) return keyId
    }
    const [best] = ids
    if (best === undefined) throw noKey()
    throw await notShared(store, best)
  }

  const open = (secret: SealedSecret | null): Revealed => {
    if (!secret) return { kind: 'absent' }
    const value = keyring.unseal(secret)
    return value === undefined ? { kind: 'unreadable' } : { kind: 'value', value }
  }

  return {
    async put({ projectId, name }, value, audit) {
      const keyId = await sharedKey()
      const sealed = keyring.seal(keyId, { projectId, name }, value)
      return store.putSecret({ projectId, name, sealed, key: keyring.checkOf(keyId), audit })
    },

    async reveal(names) {
      const found = await store.findSecrets(names)
      const isNew = (secret: SealedSecret | null) =>
        secret !== null && !keyring.ids().includes(secret.keyId)
      if (!found.some(isNew)) return found.map(open)
      // The secret was encrypted with a newer key file; without it the error below applies.
      await keyring.refresh().catch(() => {})
      const inUse = found.some(isNew) ? (await store.secretKeys()).map(({ id }) => id) : []
      return found.map((secret) =>
        secret && isNew(secret) && inUse.includes(secret.keyId)
          ? { kind: 'keyless' as const }
          : open(secret),
      )
    },

    async check() {
      await keyring.refresh()
      keyring.requireAll(await store.secretKeys())
    },

    async rotate(audit) {
      await keyring.refresh()
      const [keyId] = keyring.ids()
      if (keyId === undefined) throw noKey()
      if ((await store.nodesWithoutKey({ keyId })).length > 0) throw await notShared(store, keyId)
      const { resealed, broken } = await reseal(keyId, audit, { store, keyring, open })
      // A key that comes into use again at this moment may stay stored: no harm.
      await store.forgetUnusedKeys({ except: keyId }).catch(() => {})
      return { keyId, resealed, broken }
    },

    async announce(node) {
      await keyring.refresh()
      const keys = keyring.ids()
      const announcement = `${node} ${keys.join(' ')}`
      if (announcement === announced) return
      if (keys.length > 0) await store.announceKeys({ node, keys })
      announced = announcement
    },
  }
}

/** Seals all secrets with this key; returns the names of those that cannot be opened. */
async function reseal(
  keyId: string,
  audit: Parameters<Vault['rotate']>[0],
  {
    store,
    keyring,
    open,
  }: {
    readonly store: SecretStore
    readonly keyring: Keyring
    open(secret: SealedSecret): Revealed
  },
): Promise<{ readonly resealed: number; readonly broken: readonly string[] }> {
  const key = keyring.checkOf(keyId)
  const broken: string[] = []
  let resealed = 0
  let after: SecretName = { projectId: 0, name: '' }
  for (;;) {
    const page = await store.secretsWithoutKey({ keyId, after, limit: PAGE })
    const last = page.at(-1)
    if (!last) break
    after = last
    const secrets = page.flatMap((secret) => {
      const opened = open(secret)
      if (opened.kind === 'value') {
        return [{ ...secret, resealed: keyring.seal(keyId, secret, opened.value) }]
      }
      broken.push(secret.name)
      return []
    })
    // One entry in the audit log, with the first secret that changes.
    const auditOnce = resealed === 0 ? { audit } : {}
    resealed += await store.resealSecrets({ key, secrets, ...auditOnce })
  }
  return { resealed, broken }
}

/** For nodes that do not use secrets. */
export const NO_VAULT: Vault = {
  put: async () => {
    throw noKey()
  },
  rotate: async () => {
    throw noKey()
  },
  reveal: async (names) => names.map(() => ({ kind: 'unreadable' })),
  check: async () => {},
  announce: async () => {},
}

function noKey(): PunctualError {
  return new PunctualError('secret_key_missing', 'this server has no key to seal secrets with')
}

async function notShared(store: SecretStore, keyId: string): Promise<PunctualError> {
  const nodes = await store.nodesWithoutKey({ keyId })
  const message = `the key ${keyId} is not known to every node: ${nodes.join(', ')}`
  return new PunctualError('secret_key_missing', message)
}
