import { statfsSync } from 'node:fs'
import { BlobError, type BlobErrorKind } from '../port.ts'

const TROUBLE: Readonly<Record<string, BlobErrorKind>> = {
  ENOSPC: 'full',
  EDQUOT: 'full',
}

/**
 * Converts an error of the file system. Unknown errors count as `unavailable`, because a mount may
 * come back. A missing file is no proof of a missing blob: the storage may be away.
 */
export function toBlobError(error: unknown, what: string, place: string): BlobError {
  if (error instanceof BlobError) return error
  const { code = '', message } = error as NodeJS.ErrnoException
  const trouble = TROUBLE[code] ?? 'unavailable'
  return new BlobError(trouble, `${what} in ${place}: ${message}`, {
    cause: error,
    ...(trouble === 'full' && { freeSpace: freeSpaceIn(place) }),
  })
}

function freeSpaceIn(place: string): string {
  try {
    const { bavail, bsize } = statfsSync(place)
    return `${place} has ${bavail * bsize} bytes free`
  } catch {
    return place
  }
}

export function isMissingFile(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}
