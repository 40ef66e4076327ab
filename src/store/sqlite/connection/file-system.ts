import { closeSync, existsSync, openSync, realpathSync, statfsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { PunctualError } from '../../../core/errors.ts'

/**
 * Linux names of the file systems whose locks or shared memory are not reliable across machines.
 * SQLite's WAL needs both.
 */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9p'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS'],
  [0x73757245, 'Coda'],
  [0x564c, 'NCP'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x19830326, 'BeeGFS'],
  [0x01161970, 'GFS2'],
  [0x7461636f, 'OCFS2'],
  [0xbacbacbc, 'HGFS'],
  [0x786f4256, 'vboxsf'],
])

/** The resolved file: two names of one database must meet at one lock. */
export function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path))
}

/**
 * Creates an empty file that only its owner can read, if there is none: SQLite would create it with
 * the umask, and it gives the write-ahead log and the shared memory the mode of the database. An
 * existing file is not opened: closing it would drop every lock this process has on it.
 */
export function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** The name of the network file system with this `statfs` type, if it is one. */
export function networkFileSystem(type: number): string | undefined {
  // The type is a C long: some of these numbers are returned negative.
  return NETWORK_FILE_SYSTEMS.get(type >>> 0)
}

/** Bytes that this process may still write next to the file; null if unknown. */
export function freeBytesAt(path: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(dirname(path))
    return bavail * bsize
  } catch {
    return null
  }
}

/** The file and its free space, for display. */
export function describePlace(path: string): string {
  const free = path === '' || path === ':memory:' ? null : freeBytesAt(path)
  return free === null ? path : `${path} has ${free} bytes free`
}

export function refuseNetworkFileSystem(path: string): void {
  // On other systems the numbers differ between releases.
  if (process.platform !== 'linux') return
  const directory = dirname(path)
  const name = networkFileSystem(statfsSync(directory).type)
  if (name === undefined) return
  throw new PunctualError(
    'store_unsupported',
    `${directory} is on ${name}, which SQLite cannot trust`,
  )
}
