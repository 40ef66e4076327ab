import { LIMITS } from '../../core/limits.ts'
import type { WirePage } from '../../core/wire/views.ts'
import { encodeCursor } from './cursor.ts'

export const DEFAULT_PAGE = 50

export function pageLimit(limit: number | undefined): number {
  return Math.min(limit ?? DEFAULT_PAGE, LIMITS.pageSize)
}

/** One more was asked for than is shown: if it came, there is another page. */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  limit: number,
  show: (row: Row) => Item,
  cursorOf: (last: Row) => string | number,
): WirePage<Item> {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const hasMore = rows.length > limit && last !== undefined
  return { data: shown.map(show), next_cursor: hasMore ? encodeCursor(cursorOf(last)) : null }
}
