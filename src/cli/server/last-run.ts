import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The run that this user last submitted to a server from this machine. */
export interface LastRun {
  recall(): string | undefined
  remember(id: string): void
}

const RUN_ID = /^run_[0-9a-z]{11}$/

/**
 * Stored as one small file per server and project. Without a writable directory nothing is stored:
 * the command that submitted the run must not fail for it.
 */
export function createLastRun(directory: string | undefined, ...place: readonly string[]): LastRun {
  const name = createHash('sha256').update(place.join('\n')).digest('hex').slice(0, 32)
  const folder = directory === undefined ? undefined : join(directory, 'last-runs')
  return {
    recall() {
      if (folder === undefined) return undefined
      try {
        const id = readFileSync(join(folder, name), 'utf8').trim()
        return RUN_ID.test(id) ? id : undefined
      } catch {
        return undefined
      }
    },
    remember(id) {
      if (folder === undefined) return
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        writeFileSync(join(folder, name), `${id}\n`, { mode: 0o600 })
      } catch {
        // `@last` then means the newest run of the server.
      }
    },
  }
}
