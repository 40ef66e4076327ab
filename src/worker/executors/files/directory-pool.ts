import { chownSync, lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../../core/clock.ts'

/**
 * Directories for attempts, each used by one at a time and closed to other users. Most attempts
 * leave theirs untouched, which its change time shows, and it is reused: creating and removing one
 * takes a quarter of the time of starting a process.
 */
export interface DirectoryPool {
  take(): string
  giveBack(path: string): void
}

interface Owner {
  readonly uid: number
  readonly gid: number
}

interface Made {
  /** By the kernel's clock, which no process can set back. */
  readonly changedAt: bigint | undefined
  readonly mono: number
  /** Created long enough before it was taken that any later change shows in its change time. */
  isOld: boolean
}

/** A change this soon after the previous one may leave the same change time. */
const TICK_MS = 100
const MOST_SPARE = 256

export function createDirectoryPool(
  root: string,
  name: string,
  {
    clock,
    owner,
    remove,
  }: { clock: Pick<Clock, 'mono'>; owner: Owner | undefined; remove(path: string): void },
): DirectoryPool {
  const spare: string[] = []
  const known = new Map<string, Made>()
  let made = 0

  const make = () => {
    made += 1
    const path = join(root, `${name}-${made}`)
    mkdirSync(path, 0o700)
    if (owner) chownSync(path, owner.uid, owner.gid)
    known.set(path, { changedAt: changedAt(path), mono: clock.mono(), isOld: false })
    return path
  }
  const isUntouched = (path: string) => {
    const before = known.get(path)
    if (!before || changedAt(path) !== before.changedAt) return false
    return before.isOld || readdirSync(path).length === 0
  }

  return {
    take() {
      const path = spare.pop() ?? make()
      const one = known.get(path)
      if (one) one.isOld = clock.mono() - one.mono > TICK_MS
      return path
    },
    giveBack(path) {
      if (spare.length < MOST_SPARE && isUntouched(path)) {
        spare.push(path)
        return
      }
      known.delete(path)
      remove(path)
    },
  }
}

function changedAt(path: string): bigint | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false })?.ctimeNs
}
