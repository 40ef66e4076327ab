import { accessSync, constants } from 'node:fs'
import { resolve } from 'node:path'
import { makeDirectory, reasonOf } from '../../cli/files/make-directory.ts'
import { PunctualError } from '../../core/errors.ts'

interface Purpose {
  /** The name of the directory in messages: `the data directory`. */
  readonly what: string
  /** The setting that names the directory. */
  readonly field: string
}

/** Explains why a path cannot be used as a directory; undefined for other errors. */
export function explainDirectory(
  error: unknown,
  path: string,
  { what, field }: Purpose,
): PunctualError | undefined {
  const { code } = error as NodeJS.ErrnoException
  // A full disk has an error of its own.
  if (
    typeof code !== 'string' ||
    error instanceof PunctualError ||
    code === 'ENOSPC' ||
    code === 'EDQUOT'
  )
    return undefined
  const message = `${what} ${resolve(path)} cannot be used: ${reasonOf(error)}`
  const hint = `Choose another directory with --${field}.`
  return new PunctualError('config_invalid', message, { field, hint, cause: error })
}

/** Creates a private directory unless it exists, and checks that files can be written in it. */
export function makePrivateDirectory(path: string, purpose: Purpose): void {
  try {
    makeDirectory(path, 0o700)
    accessSync(path, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw explainDirectory(error, path, purpose) ?? error
  }
}
