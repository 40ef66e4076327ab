import { createSecretKey, hash } from 'node:crypto'
import type { KeySource } from '../../src/server/secrets/keys.ts'

/** Keys without a file. Those with the same id are the same key. */
export interface MemoryKeys extends KeySource {
  /** Best first. */
  ids: string[]
}

export function keysInMemory(...ids: string[]): MemoryKeys {
  const keys: MemoryKeys = {
    name: 'the keys of the test',
    ids,
    read: async () =>
      keys.ids.map((id) => ({ id, key: createSecretKey(hash('sha256', id, 'buffer')) })),
  }
  return keys
}
