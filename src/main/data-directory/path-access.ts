import { lstatSync, readFileSync, readlinkSync, type Stats, statSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { PunctualError } from '../../core/errors.ts'

/** The ids of this process that decide who can replace its files. */
export interface ServerUser {
  readonly uid: number
  /** The primary group, which on most systems has no other members. */
  readonly gid: number
  readonly groups: readonly number[]
  /** For root only: the users who started it or own the directory it was started in. */
  readonly invokers: readonly number[]
  /**
   * In a user namespace, the id that represents all users outside of it, including the real root.
   */
  readonly unmappedUid: number | undefined
}

export type FoundDirectory = Pick<Stats, 'uid' | 'gid' | 'mode'> & {
  readonly isMountPoint: boolean
}

/** Which users besides root and the server's own can replace the entries of a directory. */
export interface Writers {
  /** `tolerated` causes a warning, `refused` prevents the start. */
  readonly verdict: 'none' | 'tolerated' | 'refused'
  readonly who: string
  /**
   * A command, without the path, by which the owner can fix it. Empty if only another directory
   * helps.
   */
  readonly remedy: string
}

const STICKY = 0o1000
const WRITE_BY_GROUP = 0o020
const WRITE_BY_OTHERS = 0o002
/** Members of these groups can become root anyway. */
const ROOT_GROUPS = process.platform === 'darwin' ? [0, 80] : [0]
/** The limit of Linux. */
const MOST_LINKS = 40

const NONE: Writers = { verdict: 'none', who: '', remedy: '' }

/** Undefined on platforms without user ids. */
export function findServerUser(): ServerUser | undefined {
  const uid = process.getuid?.()
  const gid = process.getgid?.()
  if (uid === undefined || gid === undefined) return undefined
  const unmappedUid = findUnmappedUid()
  const invokers = uid === 0 ? invokersOfRoot().filter((invoker) => invoker !== unmappedUid) : []
  return { uid, gid, groups: process.getgroups?.() ?? [], invokers, unmappedUid }
}

function invokersOfRoot(): number[] {
  const caller = Number(process.env['SUDO_UID'])
  const owner = statSync('.', { throwIfNoEntry: false })?.uid
  return [caller, owner].filter((uid) => uid !== undefined && uid > 0) as number[]
}

function findUnmappedUid(): number | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    const [inside, outside, count] = readFileSync('/proc/self/uid_map', 'utf8').trim().split(/\s+/)
    if (inside === '0' && outside === '0' && count === '4294967295') return undefined
    return Number(readFileSync('/proc/sys/fs/overflowuid', 'utf8'))
  } catch {
    return undefined
  }
}

export function writersOf(directory: FoundDirectory, user: ServerUser): Writers {
  const { uid, gid, mode, isMountPoint } = directory
  const isInvoker = user.invokers.includes(uid)
  if (!isTrusted(uid, user)) return refused(`user ${uid}`, '')
  // In a sticky directory, users can replace only their own entries.
  const isSticky = (mode & STICKY) !== 0
  if (!isSticky && (mode & WRITE_BY_OTHERS) !== 0) return refused('other users', 'chmod o-w')
  // The invoker decides which groups may write to the invoker's directories.
  if (isInvoker) return { verdict: 'tolerated', who: `user ${uid}`, remedy: '' }
  const isPrivateGroup = gid === user.gid || ROOT_GROUPS.includes(gid)
  if (isSticky || (mode & WRITE_BY_GROUP) === 0 || isPrivateGroup) return NONE
  const who = `group ${gid}`
  // Kubernetes mounts volumes like this, for a group that the process also gets (fsGroup).
  const isVolume = isMountPoint && uid === 0 && user.uid !== 0 && user.groups.includes(gid)
  return isVolume ? { verdict: 'tolerated', who, remedy: '' } : refused(who, 'chmod g-w')
}

function refused(who: string, remedy: string): Writers {
  return { verdict: 'refused', who, remedy }
}

/** Whether the files of this user are as safe as the server's own. */
export function isTrusted(uid: number, user: ServerUser): boolean {
  if (uid === 0 || uid === user.uid || uid === user.unmappedUid) return true
  return user.invokers.includes(uid)
}

export interface PathCheck {
  readonly user: ServerUser
  /** The setting that names the path. */
  readonly field: 'data' | 'store'
  onWarn(message: string): void
}

/**
 * Resolves a path component by component, including its links, and refuses it if another user can
 * redirect it: the owner of a link, or a user who can write to a directory on the way. The caller
 * checks the final entry. Returns the path without links.
 */
export function requireSafePath(path: string, check: PathCheck): string {
  const judged = new Set<string>()
  const judge = (directory: string) => {
    if (judged.has(directory)) return
    judged.add(directory)
    requireSafeDirectory(directory, check)
  }
  let at: string = sep
  let left = namesOf(resolve(path))
  for (let links = 0; ;) {
    const name = left.shift()
    if (name === undefined) return at
    if (name === '..') {
      at = dirname(at)
      continue
    }
    judge(at)
    const next = join(at, name)
    const found = lstatSync(next, { throwIfNoEntry: false })
    // This process creates the rest.
    if (!found) return join(next, ...left)
    if (!found.isSymbolicLink()) {
      at = next
      continue
    }
    requireOwnLink(next, found, check)
    links += 1
    if (links > MOST_LINKS) return join(next, ...left)
    const target = readlinkSync(next)
    if (isAbsolute(target)) at = sep
    left = [...namesOf(target), ...left]
  }
}

function namesOf(path: string): string[] {
  return path.split(sep).filter((name) => name !== '' && name !== '.')
}

/** Throws for `refused`. */
export function requireSafeDirectory(
  directory: string,
  { user, field, onWarn }: PathCheck,
): Writers['verdict'] {
  const found = statSync(directory)
  const { uid, gid, mode } = found
  const isMountPoint = found.dev !== statSync(dirname(directory)).dev
  const { verdict, who, remedy } = writersOf({ uid, gid, mode, isMountPoint }, user)
  if (verdict === 'refused') {
    throw new PunctualError('config_invalid', `${directory} can be written by ${who}`, {
      field,
      hint:
        remedy === ''
          ? `Choose another place with --${field}.`
          : `Run ${remedy} ${directory}, or choose another place with --${field}.`,
    })
  }
  if (verdict === 'tolerated') {
    onWarn(`${who} can write to ${directory}, and so replace the data of this server`)
  }
  return verdict
}

/** The owner of a link can redirect it at any time. */
export function requireOwnLink(
  path: string,
  { uid }: Pick<Stats, 'uid'>,
  { user, field }: Pick<PathCheck, 'user' | 'field'>,
): void {
  if (isTrusted(uid, user)) return
  throw new PunctualError('config_invalid', `${path} is a symbolic link of user ${uid}`, {
    field,
    hint: `Look where it leads, then run rm ${path}, or choose another place with --${field}.`,
  })
}
