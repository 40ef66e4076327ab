import Database from 'better-sqlite3'
import { PunctualError, type ErrorCode } from '../../../core/errors.ts'
import { StoreError, type StoreTrouble } from '../../port.ts'
import { BulkMismatch } from './bulk.ts'

/**
 * After this error the store answers no more: a write may be in the page cache and not on the disk.
 * Only a fresh start, reading back what the disk really has, can find out.
 */
export class FatalStoreError extends StoreError {
  readonly fatal = true
}

export function isFatal(error: unknown): error is FatalStoreError {
  return error instanceof FatalStoreError
}

/**
 * The phase in which a statement failed: a commit that fails may still be found after a restart.
 */
export type Stage = 'work' | 'commit'

/** The driver's error as the port's error. `place`: the path and its free bytes, for display. */
export function translate(error: unknown, stage: Stage, place?: () => string): Error {
  if (error instanceof StoreError || error instanceof PunctualError) return error
  if (error instanceof BulkMismatch) return error
  const cause = error instanceof Error ? error : new Error(String(error))
  if (!(error instanceof Database.SqliteError))
    return new StoreError('refused', cause.message, { cause })
  const trouble = troubleOf(error.code)
  const where = trouble && place ? `: ${place()}` : ''
  const message = `${cause.message} (${error.code})${where}`
  switch (severityOf(error.code)) {
    case 'fatal': {
      const outcome = stage === 'commit' ? 'unknown' : 'unavailable'
      return new FatalStoreError(outcome, message, { cause, trouble })
    }
    case 'passing':
      return new StoreError('unavailable', message, { cause, trouble })
    case 'refused':
      return new StoreError('refused', message, { cause })
  }
}

const TRANSIENT = ['BUSY', 'LOCKED', 'FULL', 'NOMEM', 'CANTOPEN', 'READONLY', 'PROTOCOL']
const FATAL = ['IOERR', 'CORRUPT', 'NOTADB']

function severityOf(code: string): 'fatal' | 'passing' | 'refused' {
  if (troubleOf(code) === 'full') return 'passing'
  const family = code.split('_')[1] ?? ''
  if (FATAL.includes(family)) return 'fatal'
  return TRANSIENT.includes(family) ? 'passing' : 'refused'
}

function troubleOf(code: string): StoreTrouble | undefined {
  // The shared-memory file could not grow: the disk is full as well.
  if (code === 'SQLITE_FULL' || code === 'SQLITE_IOERR_SHMSIZE') return 'full'
  return /^SQLITE_(CORRUPT|NOTADB)/.test(code) ? 'damaged' : undefined
}

/** An error as it crosses from the database thread: classes do not survive the copy. */
export type WireFailure =
  | {
      kind: 'store'
      outcome: StoreError['outcome']
      trouble: StoreTrouble | undefined
      fatal: boolean
      message: string
    }
  | { kind: 'punctual'; code: ErrorCode; field: string | undefined; message: string }

export function toWire(error: unknown): WireFailure {
  if (error instanceof PunctualError) {
    return { kind: 'punctual', code: error.code, field: error.field, message: error.message }
  }
  const failure = translate(error, 'work')
  const { message } = failure
  const { outcome, trouble } =
    failure instanceof StoreError ? failure : { outcome: 'refused' as const, trouble: undefined }
  return { kind: 'store', outcome, trouble, fatal: isFatal(failure), message }
}

export function fromWire(failure: WireFailure): StoreError | PunctualError {
  if (failure.kind === 'store') {
    const Kind = failure.fatal ? FatalStoreError : StoreError
    return new Kind(failure.outcome, failure.message, { trouble: failure.trouble })
  }
  const { code, field, message } = failure
  return new PunctualError(code, message, field === undefined ? {} : { field })
}
