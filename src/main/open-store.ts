import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { PunctualError } from '../core/errors.ts'
import type { Store } from '../store/port.ts'

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

/** The only place that knows which databases there are; each is loaded when it is asked for. */
export async function openStore({ url, onFatal, onWarn }: StoreSetting): Promise<Store> {
  if (SQLITE.test(url)) {
    const path = url.slice('sqlite:'.length)
    if (path !== ':memory:') await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    const { openSqliteStore } = await import('../store/sqlite/store.ts')
    return openSqliteStore({ path, onFatal })
  }
  if (POSTGRES.test(url)) {
    const { openPostgresStore } = await import('../store/postgres/store.ts')
    return openPostgresStore({ url, onFatal, onWarn })
  }
  throw new PunctualError('config_invalid', 'the store must be sqlite:<file> or postgres://…', {
    field: 'store',
  })
}
