import { PunctualError } from '../../core/errors.ts'
import type { Store } from '../../store/port.ts'
import { explainDatabaseFailure } from './explain-database-failure.ts'
import { protectDatabase } from '../data-directory/private-files.ts'

export interface StoreSetting {
  /** `sqlite:path/to/file.db`, `sqlite::memory:` or `postgres://…`. */
  readonly url: string
  onFatal(error: unknown): void
  onWarn(message: string): void
}

const SQLITE = /^sqlite:./
const POSTGRES = /^postgres(ql)?:\/\//

export function isStoreUrl(url: string): boolean {
  return SQLITE.test(url) || POSTGRES.test(url)
}

/** The only module that imports the databases; each is loaded on demand. */
export async function openStore({ url, onFatal, onWarn }: StoreSetting): Promise<Store> {
  if (SQLITE.test(url)) {
    const path = url.slice('sqlite:'.length)
    if (path !== ':memory:') protectDatabase(path, onWarn)
    const { openSqliteStore } = await import('../../store/sqlite/store.ts')
    return openSqliteStore({ path, onFatal })
  }
  if (POSTGRES.test(url)) {
    const { openPostgresStore } = await import('../../store/postgres/store.ts')
    try {
      return await openPostgresStore({ url, onFatal, onWarn })
    } catch (error) {
      throw explainDatabaseFailure(error, url)
    }
  }
  throw new PunctualError('config_invalid', 'the store must be sqlite:<file> or postgres://…', {
    field: 'store',
  })
}
