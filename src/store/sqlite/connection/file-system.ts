import { existsSync, realpathSync, statfsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { PunctualError } from '../../../core/errors.ts'

/**
 * What Linux calls the file systems whose locks or shared memory reach only as far as one machine
 * says they do. SQLite's WAL needs both to be true.
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

/** The file itself: two names for one database must meet at one lock. */
export function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path))
}

/** The name of the network file system with this `statfs` type, if it is one. */
export function networkFileSystem(type: number): string | undefined {
  // The type is a C long: some of these numbers come back negative.
  return NETWORK_FILE_SYSTEMS.get(type >>> 0)
}

export function refuseNetworkFileSystem(path: string): void {
  // Elsewhere the numbers mean something else from one release to the next.
  if (process.platform !== 'linux') return
  const directory = dirname(path)
  const name = networkFileSystem(statfsSync(directory).type)
  if (name === undefined) return
  throw new PunctualError(
    'store_unsupported',
    `${directory} is on ${name}, which SQLite cannot trust`,
  )
}
