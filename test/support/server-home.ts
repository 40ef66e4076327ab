import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unprivilegedOwner } from './unprivileged.ts'

const OWNER_FILE = 'owner-pid'

/**
 * A temporary directory for a private server, writable by the user the server runs as. A killed process cannot
 * remove its own, so the next call removes it.
 */
export function createServerHome(prefix: string): string {
  sweepAbandoned(prefix)
  const home = mkdtempSync(join(tmpdir(), prefix))
  writeFileSync(join(home, OWNER_FILE), String(process.pid))
  const owner = unprivilegedOwner()
  if (owner) chownSync(home, owner.uid, owner.gid)
  return home
}

function sweepAbandoned(prefix: string): void {
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(prefix)) continue
    const home = join(tmpdir(), name)
    if (!isOwnerAlive(home)) rmSync(home, { recursive: true, force: true })
  }
}

function isOwnerAlive(home: string): boolean {
  try {
    process.kill(Number(readFileSync(join(home, OWNER_FILE), 'utf8')), 0)
    return true
  } catch (error) {
    // A missing file means that another process is just creating it; EPERM means that another user's process
    // runs.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
