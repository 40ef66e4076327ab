import { accessSync, constants, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

/** The magic numbers of Linux file systems that live in memory. */
const IN_MEMORY = new Set([0x01021994, 0x858458f6])

/**
 * The launcher can hide directories directly below this one from all processes but the attempt's;
 * it cannot do that elsewhere.
 */
const HIDEABLE = '/dev/shm'

/** Parent directories for secret files, best first. */
export const SECRET_DIRECTORIES = [HIDEABLE, process.env['XDG_RUNTIME_DIR'], tmpdir()]

/** Where secret files are kept: in memory if such a directory is writable, otherwise on disk. */
export function findSecretDirectory(places = SECRET_DIRECTORIES): {
  readonly path: string
  readonly kind: 'memory' | 'disk'
} {
  for (const path of places) {
    if (path && isMemory(path) && isWritable(path)) return { path, kind: 'memory' }
  }
  return { path: tmpdir(), kind: 'disk' }
}

/** How a worker's secret files are protected, as it is shown in lists. */
export function secretFilesKind(
  hidesFiles: boolean,
  { path, kind } = findSecretDirectory(),
): 'private' | 'memory' | 'disk' {
  return hidesFiles && path === HIDEABLE ? 'private' : kind
}

function isMemory(path: string): boolean {
  // On other platforms the numbers mean other file systems.
  if (process.platform !== 'linux') return false
  try {
    return IN_MEMORY.has(statfsSync(path).type >>> 0)
  } catch {
    return false
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}
