import { createSecretKey, hash } from 'node:crypto'
import type { KeySource } from '../../src/server/secrets/keys.ts'

/** Keys without a file. The same id always gives the same key. */
export interface MemoryKeys extends KeySource {
  /** The preferred key first. */
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
