import { PunctualError } from '../../core/errors.ts'
import type { SealedSecret, SecretKeyCheck, SecretName } from '../../store/port.ts'
import type { KeySource, SecretKey } from './keys.ts'
import { seal, unseal } from './seal.ts'

/** The keys of this node. A known key stays known until the node ends. */
export interface Keyring {
  /** Ids of the keys of this node, the encrypting one first. */
  ids(): readonly string[]
  /** Reads the source again. */
  refresh(): Promise<void>
  seal(keyId: string, subject: SecretName, text: string): string
  unseal(secret: SealedSecret): string | undefined
  /** A check value against which a later start tests the key. */
  checkOf(keyId: string): SecretKeyCheck
  /** Throws the reason to refuse a start, unless all of these keys are available and correct. */
  requireAll(checks: readonly SecretKeyCheck[]): void
}

const KNOWN_TEXT = 'punctual'

export async function openKeyring(source: KeySource, mayCreate: boolean): Promise<Keyring> {
  const found = await source.read()
  const first = found.length === 0 && mayCreate ? ((await source.create?.()) ?? found) : found
  let keys = new Map(first.map((key) => [key.id, key]))

  const find = (id: string): SecretKey => {
    const key = keys.get(id)
    if (key) return key
    throw new PunctualError('secret_key_missing', `this node does not have the key ${id}`)
  }
  const opens = (key: SecretKey | undefined, check: string) =>
    key !== undefined && unseal(key, 'check', check) === KNOWN_TEXT

  return {
    ids: () => [...keys.keys()],

    async refresh() {
      const fresh = await source.read()
      const old = [...keys.values()].filter(({ id }) => !fresh.some((key) => key.id === id))
      keys = new Map([...fresh, ...old].map((key) => [key.id, key]))
    },

    seal: (keyId, subject, text) => seal(find(keyId), subject, text),
    unseal(secret) {
      const key = keys.get(secret.keyId)
      return key && unseal(key, secret, secret.sealed)
    },
    checkOf: (keyId) => ({ id: keyId, check: seal(find(keyId), 'check', KNOWN_TEXT) }),

    requireAll(checks) {
      const wrong = checks.filter(({ id, check }) => !opens(keys.get(id), check))
      if (wrong.length === 0) return
      const lines = wrong.map(({ id }) => refusal(source.name, id, keys))
      throw new PunctualError('config_invalid', lines.join('\n'), { field: 'secret-key' })
    },
  }
}

function refusal(name: string, id: string, keys: ReadonlyMap<string, SecretKey>): string {
  if (keys.size === 0)
    return `${name} holds no key, and there are secrets sealed with the key ${id}`
  if (!keys.has(id)) return `${name} lacks the key ${id}, and there are secrets sealed with it`
  return `${name} holds another key ${id} than the one secrets are sealed with`
}
