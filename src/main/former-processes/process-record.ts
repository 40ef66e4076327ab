import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Launcher } from '../../worker/launcher/launcher.ts'
import { lockNameOf, readLockFile } from '../../worker/launcher/lock-file.ts'
import type { Abilities } from '../../worker/launcher/messages.ts'
import { nameOf, ownIdentity } from '../../worker/launcher/notes.ts'
import { writePrivately } from '../data-directory/private-files.ts'

/** Contains one directory per server process with a worker, named after its identity. */
export const PROCESSES = 'processes'
export const LOCKS = 'launchers'
const RECORD = 'sessions.json'

export interface RecordedSessions {
  readonly containment: Abilities['containment']
  readonly sessions: readonly string[]
  /**
   * The lock files of all launchers used so far, except those that say that everything has ended.
   */
  readonly launchers: readonly string[]
}

/**
 * What a later process on the same data directory needs to prove that this process's worker is
 * gone: its sessions, and the locks of its launchers. Only a process of the same boot reads it, so
 * nothing has to be synced.
 */
export interface ProcessRecord {
  /** The directory for the locks of launchers. */
  readonly locks: string
  /**
   * Records a launcher that has no work yet. A launcher without a lock makes every proof
   * impossible, for good. Throws if the launcher must not be used, because the record on disk would
   * lack it.
   */
  onLauncher(launcher: Pick<Launcher, 'pid' | 'abilities'>): void
  /** Does not throw: a session that is missing in the record waits until its leases expire. */
  addSession(session: string): void
  /** Removes the record after a clean shutdown. */
  remove(): void
}

/** Undefined where no proof is possible. */
export function createProcessRecord(
  dataDir: string,
  onError: (error: unknown) => void,
): ProcessRecord | undefined {
  // On other platforms a process has no identity that outlives it.
  if (process.platform !== 'linux') return undefined
  const directory = join(resolve(dataDir), PROCESSES, nameOf(ownIdentity()))
  const locks = join(directory, LOCKS)
  const file = join(directory, RECORD)
  const sessions = new Set<string>()
  const launchers = new Set<string>()
  let containment: Abilities['containment'] | undefined
  let isProvable = true
  try {
    mkdirSync(locks, { recursive: true, mode: 0o700 })
  } catch (error) {
    // The directory may be full or gone. After a restart, the sessions wait until their leases
    // expire.
    onError(error)
    return undefined
  }

  const save = () => {
    if (!isProvable || containment === undefined || sessions.size === 0) return
    const record: RecordedSessions = {
      containment,
      sessions: [...sessions],
      launchers: [...launchers],
    }
    try {
      writePrivately(file, JSON.stringify(record))
    } catch (error) {
      onError(error)
      // Without a record there is no proof; an older record may lack a launcher.
      rmSync(file, { force: true })
    }
  }
  const forgetEnded = () => {
    const ended = [...launchers].filter((name) => readLockFile(join(locks, name))?.hasEnded)
    for (const name of ended) launchers.delete(name)
    return ended
  }

  return {
    locks,
    onLauncher({ pid, abilities }) {
      const name = lockNameOf(pid)
      containment = abilities.containment
      if (name === undefined || !abilities.holdsLock) {
        isProvable = false
        rmSync(file, { force: true })
        return
      }
      const ended = forgetEnded()
      launchers.add(name)
      save()
      for (const one of ended) rmSync(join(locks, one), { force: true })
    },
    addSession(session) {
      if (sessions.has(session)) return
      sessions.add(session)
      try {
        save()
      } catch (error) {
        onError(error)
      }
    },
    remove: () => removeRecord(directory),
  }
}

/** Undefined if there is no valid record. */
export function readRecord(directory: string): RecordedSessions | undefined {
  try {
    const read: Partial<RecordedSessions> | null = JSON.parse(
      readFileSync(join(directory, RECORD), 'utf8'),
    )
    if (!read?.containment || !Array.isArray(read.sessions)) return undefined
    const { containment, sessions, launchers = [] } = read
    return { containment, sessions, launchers }
  } catch {
    return undefined
  }
}

/**
 * Removes the record first: after a crash in between, the rest of the directory must not count as a
 * proof.
 */
export function removeRecord(directory: string): void {
  rmSync(join(directory, RECORD), { force: true })
  rmSync(directory, { recursive: true, force: true })
}
