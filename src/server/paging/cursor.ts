import { PunctualError } from '../../core/errors.ts'
import { NAME } from '../../core/limits.ts'

/**
 * Where a page ended, as text that is opaque to callers, so that what it holds may change. It is not
 * signed: it only says from where on to read what its bearer may read anyway. But nothing that this
 * server would not have written is taken for one.
 */
export function encodeCursor(last: string | number): string {
  return Buffer.from(`1:${last}`).toString('base64url')
}

/** A page that ended with an id or a version. */
export function readNumberCursor(cursor: string | undefined): number {
  if (cursor === undefined) return Number.MAX_SAFE_INTEGER
  const number = Number(textOf(cursor))
  if (Number.isSafeInteger(number) && number >= 0 && encodeCursor(number) === cursor) return number
  throw notOurs()
}

/** A page that ended before the one with this number, counted from 0. */
export function readCountCursor(cursor: string | undefined): number {
  return cursor === undefined ? 0 : readNumberCursor(cursor)
}

/** A page that ended with a name. Before the first one comes nothing. */
export function readNameCursor(cursor: string | undefined, shape: RegExp = NAME): string {
  if (cursor === undefined) return ''
  const name = textOf(cursor)
  if (shape.test(name) && encodeCursor(name) === cursor) return name
  throw notOurs()
}

function textOf(cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  if (text.startsWith('1:')) return text.slice(2)
  throw notOurs()
}

function notOurs(): PunctualError {
  const message = 'the cursor was not given by this server'
  return new PunctualError('invalid_cursor', message, { field: 'cursor' })
}
