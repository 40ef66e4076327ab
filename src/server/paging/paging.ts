import { LIMITS } from '../../core/limits.ts'
import type { WirePage } from '../../core/wire/views.ts'
import { encodeCursor } from './cursor.ts'

export interface Paging {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

export const DEFAULT_PAGE = 50

export function pageLimit(limit: number | undefined): number {
  return Math.min(limit ?? DEFAULT_PAGE, LIMITS.pageSize)
}

/** Maximum total size of the rows of one page, in characters; a larger row is a page of its own. */
const PAGE_CHARACTERS = 8 * 1024 * 1024
/** Number of rows fetched before their size is known. */
const FIRST_ROWS = 8

export interface PageSource<Row, Item> {
  /** Maximum number of rows per page. */
  readonly size: number
  /** The rows after this one, in order. */
  fetch(last: Row | undefined, count: number): Promise<readonly Row[]>
  /** Size of the large fields of a row, in characters. */
  sizeOf(row: Row): number
  show(row: Row): Promise<Item>
  cursorOf(last: Row): string | number
}

/**
 * Reads a page of rows that may be large. It ends early if they are; the next page continues at its
 * cursor.
 */
export async function gatherPage<Row, Item>(
  { size, fetch, sizeOf, show, cursorOf }: PageSource<Row, Item>,
  mostCharacters = PAGE_CHARACTERS,
): Promise<WirePage<Item>> {
  const data: Item[] = []
  let last: Row | undefined
  let characters = 0
  let count = Math.min(size + 1, FIRST_ROWS)
  for (;;) {
    const rows = await fetch(last, count)
    for (const row of rows) {
      characters += sizeOf(row)
      const isFull = data.length === size || (data.length > 0 && characters > mostCharacters)
      if (isFull) return { data, next_cursor: encodeCursor(cursorOf(last as Row)) }
      data.push(await show(row))
      last = row
    }
    if (rows.length < count) return { data, next_cursor: null }
    // As many as would fit at the average size so far, and one more to see whether there are more.
    const fitting = Math.floor((mostCharacters - characters) / (characters / data.length || 1))
    count = 1 + Math.max(0, Math.min(size - data.length, fitting))
  }
}

/** One row more than shown was requested: if it came, there is another page. */
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
