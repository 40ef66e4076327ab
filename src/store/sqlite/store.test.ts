import { type OpenStore, storeContract } from '../contract/index.ts'
import { fileStore } from './contract/open-file.ts'
import { openSqliteStore } from './store.ts'

function inMemory(exclusive: boolean): OpenStore {
  return async ({ now }) => {
    const store = await openSqliteStore({ path: ':memory:', now, exclusive })
    return { store, exclusive, close: () => store.close() }
  }
}

storeContract('SQLite in memory', inMemory(true))
storeContract('SQLite in memory, shared by nodes', inMemory(false))
storeContract('a SQLite file', fileStore({ inThread: false }))
