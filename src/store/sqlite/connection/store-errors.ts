import Database from 'better-sqlite3'
import { PunctualError, type ErrorCode } from '../../../core/errors.ts'
import { StoreError } from '../../port.ts'
import { NotInBulk } from './bulk.ts'

/**
 * After this the store answers nothing any more: a write may be in the page cache and not on the
 * disk, and only a fresh start, reading back what the disk really has, can tell.
 */
export class FatalStoreError extends StoreError {
  readonly fatal = true
}

export function isFatal(error: unknown): error is FatalStoreError {
  return error instanceof FatalStoreError
}

/** Where a statement stood when it failed: a commit that fails may still be found after a restart. */
export type Stage = 'work' | 'commit'

/** What the driver threw, in the port's words. */
export function translate(error: unknown, stage: Stage): Error {
  if (error instanceof StoreError || error instanceof PunctualError) return error
  if (error instanceof NotInBulk) return error
  const cause = error instanceof Error ? error : new Error(String(error))
  if (!(error instanceof Database.SqliteError))
    return new StoreError('refused', cause.message, { cause })
  const message = `${cause.message} (${error.code})`
  switch (severityOf(error.code)) {
    case 'fatal':
      return new FatalStoreError(stage === 'commit' ? 'unknown' : 'unavailable', message, { cause })
    case 'passing':
      return new StoreError('unavailable', message, { cause })
    case 'refused':
      return new StoreError('refused', message, { cause })
  }
}

const PASSING = ['BUSY', 'LOCKED', 'FULL', 'NOMEM', 'CANTOPEN', 'READONLY', 'PROTOCOL']
const FATAL = ['IOERR', 'CORRUPT', 'NOTADB']

function severityOf(code: string): 'fatal' | 'passing' | 'refused' {
  // The shared-memory file could not grow: the disk is full, in other words.
  if (code === 'SQLITE_IOERR_SHMSIZE') return 'passing'
  const family = code.split('_')[1] ?? ''
  if (FATAL.includes(family)) return 'fatal'
  return PASSING.includes(family) ? 'passing' : 'refused'
}

/** An error as it crosses from the database thread: classes do not survive the copy. */
export type WireFailure =
  | { kind: 'store'; outcome: StoreError['outcome']; fatal: boolean; message: string }
  | { kind: 'punctual'; code: ErrorCode; field: string | undefined; message: string }

export function toWire(error: unknown): WireFailure {
  if (error instanceof PunctualError) {
    return { kind: 'punctual', code: error.code, field: error.field, message: error.message }
  }
  const failure = translate(error, 'work')
  const outcome = failure instanceof StoreError ? failure.outcome : 'refused'
  return { kind: 'store', outcome, fatal: isFatal(failure), message: failure.message }
}

export function fromWire(failure: WireFailure): StoreError | PunctualError {
  if (failure.kind === 'store') {
    const Kind = failure.fatal ? FatalStoreError : StoreError
    return new Kind(failure.outcome, failure.message)
  }
  const { code, field, message } = failure
  return new PunctualError(code, message, field === undefined ? {} : { field })
}
