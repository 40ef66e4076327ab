import { chmodSync } from 'node:fs'
import Database from 'better-sqlite3'
import { StoreError } from '../../port.ts'

export interface BackupOptions {
  /** The source database, open in a server or not. It is only read. */
  readonly from: string
  /** The target file, which must not exist yet. */
  readonly to: string
  onProgress?(done: { readonly pages: number; readonly of: number }): void
}

export interface BackedUp {
  readonly runs: number
  /** Whether it contains secrets: they need the key that sealed them. */
  readonly secrets: number
  readonly pages: number
}

/** Pages copied between two progress reports: 8 MB. */
const PAGES_AT_ONCE = 2_048
const BUSY_MS = 30_000

/**
 * A consistent copy of a database in use. The read transaction around the copy is the snapshot:
 * without it, each write of the server would restart the copy. The copy is checked page by page
 * before this resolves.
 */
export async function backUpDatabase({ from, to, onProgress }: BackupOptions): Promise<BackedUp> {
  const source = new Database(from, { readonly: true, fileMustExist: true, timeout: BUSY_MS })
  let pages = 0
  try {
    source.exec('BEGIN')
    source.prepare('SELECT 1 FROM meta LIMIT 1').get()
    await source.backup(to, {
      progress({ totalPages, remainingPages }) {
        pages = totalPages
        onProgress?.({ pages: totalPages - remainingPages, of: totalPages })
        return PAGES_AT_ONCE
      },
    })
    source.exec('COMMIT')
  } finally {
    source.close()
  }
  chmodSync(to, 0o600)
  return { ...finishCopy(to), pages }
}

/**
 * Marks the copy as not in use. Worker sessions and node leases belong to the server that was
 * copied. In the copy the nodes are dead, so that a server on it restarts their runs at once
 * instead of waiting for workers that report to the other server.
 */
const DECLARE_ALL_DEAD = `
  UPDATE meta SET value = 0 WHERE key = 'open';
  UPDATE node SET alive = 0, reap_at = 0, expires_at = NULL WHERE alive = 1;
  DELETE FROM session;`

function finishCopy(path: string): Pick<BackedUp, 'runs' | 'secrets'> {
  const copy = new Database(path)
  try {
    // A single file, without a write-ahead log next to it.
    copy.pragma('journal_mode = DELETE')
    copy.pragma('synchronous = FULL')
    copy.transaction(() => copy.exec(DECLARE_ALL_DEAD))()
    const [finding] = copy.prepare<[], string>('PRAGMA integrity_check(1)').pluck().all()
    if (finding !== 'ok') {
      const message = `the copy is damaged, and so is the database: ${finding ?? 'no finding'}`
      throw new StoreError('unavailable', message, { trouble: 'damaged' })
    }
    const count = (table: string) =>
      copy.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0
    return { runs: count('run'), secrets: count('secret') }
  } finally {
    copy.close()
  }
}
