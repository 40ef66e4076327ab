import { BlobError, type BlobTrouble } from '../port.ts'

const TROUBLE: Readonly<Record<string, BlobTrouble>> = {
  ENOSPC: 'full',
  EDQUOT: 'full',
}

/**
 * What the file system said, in the port's words. Anything else may pass: a mount that comes back. That
 * a file is not there says nothing yet, for all of them may be away.
 */
export function translate(error: unknown, what: string): BlobError {
  if (error instanceof BlobError) return error
  const { code = '', message } = error as NodeJS.ErrnoException
  return new BlobError(TROUBLE[code] ?? 'unavailable', `${what}: ${message}`, { cause: error })
}

export function isAbsence(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}
