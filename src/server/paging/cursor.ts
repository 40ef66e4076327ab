import { PunctualError } from '../../core/errors.ts'
import { NAME } from '../../core/limits.ts'

/**
 * Encodes where a page ended. The text is opaque to callers, so its content may change. It is not
 * signed: it only says where to go on, in data that the caller may read anyway. The readers below
 * still refuse any text that this server would not have written.
 */
export function encodeCursor(last: string | number): string {
  return Buffer.from(`1:${last}`).toString('base64url')
}

/** Reads the cursor of a page that ended with an id or a version. */
export function readNumberCursor(cursor: string | undefined): number {
  if (cursor === undefined) return Number.MAX_SAFE_INTEGER
  const number = Number(textOf(cursor))
  if (Number.isSafeInteger(number) && number >= 0 && encodeCursor(number) === cursor) return number
  throw notOurs()
}

/**
 * Where a page of runs ended, and the id from which runs lie in the future, if the walk met such
 * ids.
 */
export interface RunPlace {
  readonly before: number
  readonly aheadFrom: number | null
}

export function encodeRunCursor({ before, aheadFrom }: RunPlace): string {
  return encodeCursor(aheadFrom === null ? before : `${before}/${aheadFrom}`)
}

export function readRunCursor(cursor: string): RunPlace {
  const [before, aheadFrom = null] = textOf(cursor).split('/').map(Number) as [number, number?]
  const place = { before, aheadFrom }
  const isSane = [before, aheadFrom ?? 0].every((id) => Number.isSafeInteger(id) && id >= 0)
  if (isSane && encodeRunCursor(place) === cursor) return place
  throw notOurs()
}

/** Reads the cursor of a page that ended before the item with this number, counted from 0. */
export function readCountCursor(cursor: string | undefined): number {
  return cursor === undefined ? 0 : readNumberCursor(cursor)
}

/** Reads the cursor of a page that ended with a name. Without a cursor the first page begins. */
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
