import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OpenStore } from '../../contract/index.ts'
import { openSqliteStore, type SqliteOptions } from '../store.ts'

/** A directory for one test, deleted at its end. */
export function temporaryDirectory(context: { after(cleanUp: () => void): void }): string {
  const directory = mkdtempSync(join(tmpdir(), 'punctual-sqlite-'))
  context.after(() => rmSync(directory, { recursive: true }))
  return directory
}

export function fileStore({ inThread }: { inThread: boolean }): OpenStore {
  return async ({ now }) => {
    const directory = mkdtempSync(join(tmpdir(), 'punctual-sqlite-'))
    // These tests do not cover power loss, and several hundred stores need not wait for fsync.
    const options: SqliteOptions = {
      path: join(directory, 'punctual.db'),
      now,
      inThread,
      durability: 'normal',
    }
    let store = await openSqliteStore(options)
    return {
      store,
      exclusive: true,
      reopen: async () => {
        await store.close()
        store = await openSqliteStore(options)
        return store
      },
      close: async () => {
        await store.close()
        rmSync(directory, { recursive: true })
      },
    }
  }
}
