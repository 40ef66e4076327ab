import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gatherPage } from '../paging/paging.ts'

interface Row {
  readonly id: number
  readonly size: number
}

/** Reads all pages of these rows, and records how many rows were fetched at once. */
async function pagesOf(rows: readonly Row[], size: number, mostCharacters: number) {
  const pages: number[][] = []
  const fetched: number[] = []
  let from = 0
  for (;;) {
    const page = await gatherPage<Row, number>(
      {
        size,
        sizeOf: (row) => row.size,
        show: async ({ id }) => id,
        cursorOf: ({ id }) => id,
        async fetch(last, count) {
          const after = last ? last.id : from
          const some = rows.filter(({ id }) => id > after).slice(0, count)
          fetched.push(some.reduce((total, row) => total + row.size, 0))
          return some
        },
      },
      mostCharacters,
    )
    pages.push([...page.data])
    if (page.next_cursor === null) return { pages, fetched }
    from = page.data.at(-1) as number
  }
}

const rowsOf = (sizes: readonly number[]) => sizes.map((size, index) => ({ id: index + 1, size }))

test('small rows come in pages of the requested size', async () => {
  const rows = rowsOf(Array.from({ length: 25 }, () => 1))
  const { pages } = await pagesOf(rows, 10, 1_000)
  assert.deepEqual(
    pages.map((page) => page.length),
    [10, 10, 5],
  )
  assert.deepEqual((await pagesOf([], 10, 1_000)).pages, [[]])
  assert.deepEqual((await pagesOf(rows.slice(0, 10), 10, 1_000)).pages.length, 1)
})

test('a page of large rows ends early, and no row is left out or repeated', async () => {
  for (const sizes of [
    Array.from({ length: 40 }, () => 300),
    Array.from({ length: 40 }, (_, nth) => (nth % 3 === 0 ? 5_000 : 1)),
    [1, 1, 1, 1, 1, 1, 1, 1, 1, 9_999, 9_999, 1, 1_000],
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  ]) {
    const rows = rowsOf(sizes)
    for (const size of [1, 7, 500]) {
      const { pages } = await pagesOf(rows, size, 1_000)
      assert.deepEqual(
        pages.flat(),
        rows.map(({ id }) => id),
      )
      for (const page of pages) {
        const total = page.reduce((sum, id) => sum + (sizes[id - 1] as number), 0)
        assert.ok(page.length === 1 || total <= 1_000, `${page.length} rows of ${total}`)
        assert.ok(page.length <= size)
      }
    }
  }
})

test('only a few large rows are fetched at once', async () => {
  const { fetched } = await pagesOf(rowsOf(Array.from({ length: 500 }, () => 900)), 500, 1_000)
  assert.ok(Math.max(...fetched) <= 8 * 900)
})
