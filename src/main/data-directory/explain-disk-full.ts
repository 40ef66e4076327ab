import { statfsSync } from 'node:fs'
import { resolve } from 'node:path'
import { PunctualError } from '../../core/errors.ts'

const CODES: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'SQLITE_FULL'])

/** Explains a write that failed for lack of space, with the path and the free space. */
export function explainDiskFull(error: unknown, directory: string): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (!CODES.has(code ?? '')) return error
  const message = `the disk is full: ${resolve(directory)} has ${freeBytes(directory)} bytes free`
  const hint = 'Free some space there, and start again.'
  return new PunctualError('storage_full', message, { cause: error, hint })
}

function freeBytes(directory: string): number {
  try {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize
  } catch {
    return 0
  }
}
