import type { WirePage } from '../../core/wire/views.ts'
import type { ServerCalls } from '../server/server-calls.ts'

/**
 * Reads all pages of a list, up to `most` items. `path` contains a query already, or ends with `?`.
 */
export async function everyPage<Item>(
  calls: ServerCalls,
  path: string,
  most: number,
): Promise<Item[]> {
  const items: Item[] = []
  let cursor = ''
  while (items.length < most) {
    const limit = Math.min(500, most - items.length)
    const page = `${path}&limit=${limit}${cursor && `&cursor=${cursor}`}`
    const { data, next_cursor } = await calls.call<WirePage<Item>>('GET', page)
    items.push(...data)
    if (next_cursor === null) break
    cursor = next_cursor
  }
  return items
}
