import { readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { nameOf, ownIdentity } from './notes.ts'
import { startedTicks } from './process-tree.ts'

/**
 * What the lock file of a launcher says once its lock is free. Its first line is `running` until
 * the launcher has verified that nothing it started is left; then it is `ended`. A missing file
 * proves nothing: anyone may have deleted it.
 */
export interface LockFile {
  readonly hasEnded: boolean
  /** At level `cgroup`: the cgroup of all attempts of this launcher. */
  readonly cgroup: LauncherCgroup | undefined
}

export interface LauncherCgroup {
  readonly path: string
  /**
   * The root of the cgroup's hierarchy. In another mount namespace, the same path may be another
   * cgroup.
   */
  readonly mount: { readonly path: string; readonly dev: bigint; readonly ino: bigint }
}

/** The name of the lock file of a child process, built as the launcher builds it. */
export function lockNameOf(pid: number): string | undefined {
  const started = startedTicks(pid)
  return started === undefined ? undefined : nameOf({ ...ownIdentity(), pid, started })
}

export function readLockFile(path: string): LockFile | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
  const hasEnded = text.startsWith('ended  \n')
  if (!hasEnded && !text.startsWith('running\n')) return undefined
  return { hasEnded, cgroup: readCgroup(text, basename(path)) }
}

function readCgroup(text: string, name: string): LauncherCgroup | undefined {
  const found = /\nmount (\d+) (\d+) (\/.*)\ncgroup (\/.*)\n$/.exec(text)
  const [, dev, ino, mount, path] = found ?? []
  if (!dev || !ino || !mount || !path) return undefined
  // Everything in the cgroup will be killed, so a damaged file must not name another one.
  if (!path.startsWith(`${mount}/`) || basename(path) !== `punctual.${name}`) return undefined
  return { path, mount: { path: mount, dev: BigInt(dev), ino: BigInt(ino) } }
}

/** Whether this process sees the cgroup hierarchy where the launcher saw it. */
export function isHierarchySeen({ mount }: LauncherCgroup): boolean {
  try {
    const root = statSync(mount.path, { bigint: true })
    return root.dev === mount.dev && root.ino === mount.ino
  } catch {
    return false
  }
}

/** The kernel removes a cgroup only when it contains no process and no other cgroup. */
export function isCgroupGone(cgroup: LauncherCgroup): boolean {
  try {
    return isHierarchySeen(cgroup) && !statSync(cgroup.path, { throwIfNoEntry: false })
  } catch {
    return false
  }
}
