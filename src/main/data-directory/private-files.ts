import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { PunctualError } from '../../core/errors.ts'
import { explainDirectory, makePrivateDirectory } from './private-directory.ts'
import {
  findServerUser,
  type PathCheck,
  requireOwnLink,
  requireSafeDirectory,
  requireSafePath,
} from './path-access.ts'

/**
 * `private`: only its owner can access it. `repair`: the server owns it, and its mode allows
 * others. `readable`: others can read it and the server cannot change that. `writable`: another
 * user can change it.
 */
export type Access = 'private' | 'repair' | 'readable' | 'writable'

const BY_OTHERS = 0o077
const WRITE_BY_OTHERS = 0o022

/** Which access users other than `ownUid` have to a file. Root does not count. */
export function accessOf({ uid, mode }: Pick<Stats, 'uid' | 'mode'>, ownUid: number): Access {
  if (uid === ownUid) return (mode & BY_OTHERS) === 0 ? 'private' : 'repair'
  // The owner can grant the write permission at any time.
  if (uid !== 0 || (mode & WRITE_BY_OTHERS) !== 0) return 'writable'
  return (mode & BY_OTHERS) === 0 ? 'private' : 'readable'
}

/** Files with checks of their own: repairing the mode cannot undo that others have read them. */
const CHECKED_WHEN_READ = new Set(['admin-token', 'secret-key'])
const DATABASE = /^punctual\.db(-wal|-shm|-journal|\.lock)?$/
const FILES_OF_DATA_DIR = new Set([
  ...CHECKED_WHEN_READ,
  'admin-token.registered',
  'server.json',
  'config.json',
  'backup.json',
  'blobs',
  'processes',
])
/** Temporary files of `writePrivately` and `writeNewFile` in a killed process. */
const UNFINISHED = /(\.\d+\.[0-9a-f]{8}|\.[0-9a-f]{8}\.new)$/
/** Entries of directories that count as empty. */
const OF_EMPTY_DIRECTORIES = new Set(['lost+found', '.gitignore', '.gitkeep', '.DS_Store'])

type Check = PathCheck & { readonly shownAs: string }

const DATA = { what: 'the data directory', field: 'data' } as const
const STORE = { what: 'the directory of the store', field: 'store' } as const

/** Creates a directory after checking that no other user can redirect its path. */
function makeSafeDirectory(
  directory: string,
  path: string,
  purpose: typeof DATA | typeof STORE,
  check: PathCheck,
): void {
  try {
    requireSafePath(path, { ...check, onWarn: () => {} })
  } catch (error) {
    throw explainDirectory(error, directory, purpose) ?? error
  }
  makePrivateDirectory(directory, purpose)
}

/** Makes the data directory and Punctual's files in it private to this user, or throws. */
export function protectDataDir(
  dataDir: string,
  onWarn: (message: string) => void,
  user = findServerUser(),
): void {
  if (!user) return makePrivateDirectory(dataDir, DATA)
  const check = { user, field: 'data', onWarn } as const
  makeSafeDirectory(dataDir, dataDir, DATA, check)
  const path = requireSafePath(dataDir, check)
  const names = readdirSync(path)
  const found = statSync(path)
  if (found.uid === user.uid && (found.mode & BY_OTHERS) !== 0) refuseForeign(dataDir, names)
  // The server cannot change a volume of root.
  const isRoots = found.uid === 0 && user.uid !== 0
  const isVolume = isRoots && requireSafeDirectory(path, check) === 'tolerated'
  if (!isVolume) protect(path, { ...check, shownAs: dataDir })
  for (const name of names) {
    const inside = { ...check, shownAs: join(dataDir, name) }
    if (isMadeByPunctual(name)) protect(join(path, name), inside)
    else refuseForeignLink(join(path, name), inside)
  }
}

function isMadeByPunctual(name: string): boolean {
  const finished = name.replace(UNFINISHED, '')
  return DATABASE.test(finished) || FILES_OF_DATA_DIR.has(finished)
}

/** A wrong `--data` must not close a directory that others use. */
function refuseForeign(dataDir: string, names: readonly string[]): void {
  if (names.some((name) => DATABASE.test(name) || CHECKED_WHEN_READ.has(name))) return
  const foreign = names.find((name) => !isMadeByPunctual(name) && !OF_EMPTY_DIRECTORIES.has(name))
  if (foreign === undefined) return
  throw new PunctualError(
    'config_invalid',
    `${dataDir} holds ${foreign} and nothing of Punctual, so it is not made private`,
    {
      field: 'data',
      hint: `Choose an empty directory with --data, or run chmod 700 ${dataDir} if only Punctual uses it.`,
    },
  )
}

/** The same for a database file in any place. Creates its directory, or leaves that unchanged. */
export function protectDatabase(
  path: string,
  onWarn: (message: string) => void,
  user = findServerUser(),
): void {
  if (!user) return makePrivateDirectory(dirname(path), STORE)
  const check = { user, field: 'store', onWarn } as const
  makeSafeDirectory(dirname(path), path, STORE, check)
  const file = requireSafePath(path, check)
  for (const end of ['', '-wal', '-shm', '-journal', '.lock']) {
    protect(file + end, { ...check, shownAs: path + end })
  }
}

function refuseForeignLink(path: string, check: Check): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found?.isSymbolicLink()) requireOwnLink(check.shownAs, found, check)
}

function protect(path: string, check: Check): void {
  const { shownAs, onWarn, user } = check
  const found = lstatSync(path, { throwIfNoEntry: false })
  // The owner of the link chose the place of its target and is responsible for it.
  if (found?.isSymbolicLink()) requireOwnLink(shownAs, found, check)
  if (!found || !(found.isFile() || found.isDirectory())) return
  const access = accessOf(found, user.uid)
  if (access === 'private') return
  if (access !== 'writable' && CHECKED_WHEN_READ.has(basename(path))) return
  if (found.isDirectory() && access === 'repair') refuseForeignEntries(path, found, check)
  const left = access === 'repair' ? repair(path) : found
  const isStill = access === 'repair' ? (left.mode & BY_OTHERS) !== 0 : true
  const how = left.isDirectory() ? 'chmod 700' : 'chmod 600'
  if (!isStill) {
    onWarn(`${shownAs} could be reached by other users (${octal(found)}); it is ${octal(left)} now`)
  } else if (access === 'writable' || (left.mode & WRITE_BY_OTHERS) !== 0) {
    throw writable(check, left.uid === user.uid ? how : `chown ${user.uid}`)
  } else {
    onWarn(`${shownAs} can be read by other users; run ${how} ${shownAs} as its owner`)
  }
}

/** Closing a directory does not remove the entries that others created before. */
function refuseForeignEntries(path: string, { mode }: Stats, check: Check): void {
  // The data directory may also contain other files: its entries are checked by name.
  if ((mode & WRITE_BY_OTHERS) === 0 || !FILES_OF_DATA_DIR.has(basename(path))) return
  refuseForeignFilesIn(path, path, check)
}

/** Not a recursive `readdir`, which follows links. */
function refuseForeignFilesIn(directory: string, open: string, check: Check): void {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name)
    const found = lstatSync(path)
    if (found.uid !== 0 && found.uid !== check.user.uid) {
      throw new PunctualError('config_invalid', `${path} belongs to user ${found.uid}`, {
        field: check.field,
        hint: `Other users could write to ${open}. Check for files they left there, and remove them.`,
      })
    }
    if (found.isDirectory()) refuseForeignFilesIn(path, open, check)
  }
}

/**
 * Via the open file, because the name may mean another file by now. Returns the state afterwards.
 */
function repair(path: string): Stats {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  let fd: number
  try {
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    // EACCES: for example, a file that its own owner may not read.
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
    chmodSync(path, lstatSync(path).mode & 0o700)
    return lstatSync(path)
  }
  try {
    fchmodSync(fd, fstatSync(fd).mode & 0o700)
  } catch {
    // Not every file system supports modes; the caller checks the result.
  }
  const left = fstatSync(fd)
  closeSync(fd)
  return left
}

function writable({ shownAs, field }: Check, how: string): PunctualError {
  return new PunctualError('config_invalid', `${shownAs} can be written by other users`, {
    field,
    hint: `Run ${how} ${shownAs}, or choose another place with --${field}.`,
  })
}

function octal({ mode }: Stats): string {
  return `0${(mode & 0o777).toString(8)}`
}

/**
 * Writes a file that only its owner can read, at a path that others may know in advance: never
 * through a link, and never so that a reader finds half of it.
 */
export function writePrivately(path: string, text: string): void {
  refuseLink(path)
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' })
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

export function refuseLink(path: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return
  throw new PunctualError(
    'config_invalid',
    `${path} is a symbolic link and is not written through`,
    {
      field: 'data',
      hint: `Look where it leads, then run rm ${path}.`,
    },
  )
}
