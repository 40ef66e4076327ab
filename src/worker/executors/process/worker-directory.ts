import { lstatSync, mkdtempSync, readdirSync, readlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from './remove-tree.ts'

/** `punctual-worker-<world>-<pid>-<chance>`: who made it can be asked whether they still live. */
const NAME = /^punctual-worker-(\d+)-(\d+)-[A-Za-z0-9]{6}$/

/** A new directory that only this user can look into. */
export function makeRoom(): string {
  return mkdtempSync(join(tmpdir(), `punctual-worker-${worldOf()}-${process.pid}-`))
}

/** Removes what workers of this user have left that were killed before they could. */
export async function removeDeadRooms(onError: (error: unknown) => void): Promise<void> {
  const world = worldOf()
  for (const name of readdirSync(tmpdir())) {
    const [, itsWorld, pid] = NAME.exec(name) ?? []
    // Whoever lives in another world of process numbers cannot be asked.
    if (itsWorld !== world || isAlive(Number(pid))) continue
    const path = join(tmpdir(), name)
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (!found?.isDirectory() || found.uid !== process.getuid?.()) continue
    await removeTree(path).catch(onError)
  }
}

/** Containers may share a directory for temporary files, and then the same number is two processes. */
function worldOf(): string {
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
