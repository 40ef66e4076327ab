import { PunctualError } from '../../core/errors.ts'
import { LIMITS } from '../../core/limits.ts'
import type { WirePage } from '../../core/views.ts'

export const DEFAULT_PAGE = 50

export function pageLimit(limit: number | undefined): number {
  return Math.min(limit ?? DEFAULT_PAGE, LIMITS.pageSize)
}

/** One more was asked for than is shown: if it came, there is another page. */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  limit: number,
  show: (row: Row) => Item,
  cursorOf: (last: Row) => string,
): WirePage<Item> {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const hasMore = rows.length > limit && last !== undefined
  return { data: shown.map(show), next_cursor: hasMore ? encode(cursorOf(last)) : null }
}

/** Opaque to callers, so that what it means may change. */
function encode(text: string): string {
  return Buffer.from(`1:${text}`).toString('base64url')
}

export function readCursor(cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined
  const text = Buffer.from(cursor, 'base64url').toString()
  if (text.startsWith('1:')) return text.slice(2)
  throw new PunctualError('invalid_cursor', 'the cursor was not given by this server', {
    field: 'cursor',
  })
}

export function readNumberCursor(cursor: string | undefined): number {
  const text = readCursor(cursor)
  if (text === undefined) return Number.MAX_SAFE_INTEGER
  const number = Number(text)
  if (Number.isSafeInteger(number) && number >= 0) return number
  throw new PunctualError('invalid_cursor', 'the cursor was not given by this server', {
    field: 'cursor',
  })
}
