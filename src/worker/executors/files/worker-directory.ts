import { lstatSync, mkdtempSync, readdirSync, readlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from './remove-tree.ts'
import { SECRET_DIRECTORIES } from './secret-directory.ts'

/** `punctual-worker-<pid namespace>-<pid>-<random>`: shows whether its creator still runs. */
const NAME = /^punctual-worker-(\d+)-(\d+)-[A-Za-z0-9]{6}$/

/** A new directory that only this user can read. */
export function makeWorkerDirectory(place = tmpdir()): string {
  return mkdtempSync(join(place, `punctual-worker-${pidNamespace()}-${process.pid}-`))
}

/** Removes the directories of this user's workers that were killed before they could. */
export async function removeDeadWorkerDirectories(
  onError: (error: unknown) => void,
): Promise<void> {
  const places = new Set([tmpdir(), ...SECRET_DIRECTORIES])
  for (const place of places) if (place) await removeDeadWorkerDirectoriesIn(place, onError)
}

async function removeDeadWorkerDirectoriesIn(
  place: string,
  onError: (error: unknown) => void,
): Promise<void> {
  const namespace = pidNamespace()
  for (const name of namesIn(place)) {
    const [, creatorNamespace, pid] = NAME.exec(name) ?? []
    // A process in another PID namespace cannot be checked.
    if (creatorNamespace !== namespace || isAlive(Number(pid))) continue
    const path = join(place, name)
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (!found?.isDirectory() || found.uid !== process.getuid?.()) continue
    await removeTree(path).catch(onError)
  }
}

/** Not every machine has all of these directories. */
function namesIn(place: string): string[] {
  try {
    return readdirSync(place)
  } catch {
    return []
  }
}

/**
 * Containers may share a directory for temporary files; then the same number means two processes.
 */
function pidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0'
  } catch {
    return '0'
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
