import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Creates a directory and its parents. `mkdirSync` with `recursive` loops for ever where the kernel
 * answers ENOENT for a new directory in an existing one, as in /proc.
 */
export function makeDirectory(path: string, mode = 0o777): void {
  const missing: string[] = []
  for (let at = resolve(path); !isThere(at); at = dirname(at)) missing.unshift(at)
  for (const directory of missing) {
    try {
      mkdirSync(directory, { mode })
    } catch (error) {
      // Another process may have created it in the meantime.
      if (!isDirectory(directory)) throw error
    }
  }
  if (!isDirectory(path)) throw notADirectory(path)
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

function notADirectory(path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`ENOTDIR: not a directory, mkdir '${path}'`), { code: 'ENOTDIR' })
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the file system is read-only',
  ENOENT: 'no directory can be made there',
  EEXIST: 'another file is in its place',
  ENOTDIR: 'a file is in its place, or in the place of a directory above it',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'its symbolic links form a loop',
}

/** Why a directory could not be created or written, as part of a sentence. */
export function reasonOf(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException
  return REASONS[code] ?? message
}
