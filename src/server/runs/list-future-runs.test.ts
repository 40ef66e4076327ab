import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_ID_LEAD_MS, idAtMs } from '../../core/ids.ts'
import { parseRunFilter } from '../../core/run/run-filter.ts'
import type { RunRecord } from '../../store/port.ts'
import { futureIdsFrom, listFutureRunsLast } from './list-future-runs.ts'

const NOW = Date.UTC(2026, 0, 1)
const YEAR_MS = 365 * 86_400_000
const FIRST = Number.MAX_SAFE_INTEGER

type List = Parameters<typeof listFutureRunsLast>[0]

/** Lists like the store: newest first, examining at most `examine` runs per page. */
function listOf(ids: readonly number[], { examine = Infinity, isMatch = (_id: number) => true }) {
  const list: List = async ({ filter, before, limit }) => {
    const [from, until] = [filter.since, filter.until].map((ms) =>
      ms === null ? null : idAtMs(ms),
    )
    const left = ids
      .filter((id) => id < before && id >= (from ?? 0) && id < (until ?? Infinity))
      .toSorted((a, b) => b - a)
    const runs: number[] = []
    for (const [nth, id] of left.entries()) {
      if (runs.length === limit || nth === examine) {
        return { runs: runs.map(toRun), before: left[nth - 1] as number }
      }
      if (isMatch(id)) runs.push(id)
    }
    return { runs: runs.map(toRun), before: null }
  }
  return list
}

const toRun = (id: number) => ({ id }) as RunRecord

/** Reads every page until the end. */
async function pages(list: List, limit: number, query = '') {
  const filter = parseRunFilter(query, NOW)
  const aheadFrom = futureIdsFrom(NOW)
  const found: number[][] = []
  for (let before: number | null = FIRST; before !== null;) {
    const page = await listFutureRunsLast(list, { filter, limit }, { before, aheadFrom })
    found.push(page.runs.map(({ id }) => id))
    before = page.before
    assert.ok(found.length < 100, 'it comes to an end')
  }
  return found
}

const past = [5, 4, 3, 2, 1].map((minutes) => idAtMs(NOW - minutes * 60_000))
const ahead = [1, 2, 3].map((minutes) => idAtMs(NOW + YEAR_MS + minutes * 60_000))
/** Within the distance by which a node may mint ids ahead: not a future id. */
const near = idAtMs(NOW + MAX_ID_LEAD_MS - 1)
const all = [...past, near, ...ahead]
const inOrder = [near, ...past.toReversed(), ...ahead.toReversed()]

for (const limit of [1, 2, 3, 6, 7, 9, 50]) {
  test(`future runs come last, in pages of ${limit}`, async () => {
    const found = await pages(listOf(all, {}), limit)
    assert.deepEqual(found.flat(), inOrder)
    assert.ok(found.every((page) => page.length <= limit))
  })

  for (const examine of [1, 2, 4]) {
    test(`pages of ${limit} that are short and continue, ${examine} examined for each`, async () => {
      const isMatch = (id: number) => all.indexOf(id) % 3 === 1
      const found = await pages(listOf(all, { examine, isMatch }), limit)
      assert.deepEqual(found.flat(), inOrder.filter(isMatch))
    })
  }
}

test('a run with the lowest future id ends the walk', async () => {
  const lowest = futureIdsFrom(NOW)
  const found = await pages(listOf([...past, lowest], {}), 1)
  assert.deepEqual(found.flat(), [...past.toReversed(), lowest])
})

test('a list without matching runs ends, present and future', async () => {
  const found = await pages(listOf(all, { examine: 2, isMatch: () => false }), 5)
  assert.deepEqual(found.flat(), [])
})

test('a time range covers present and future runs', async () => {
  const of = (query: string) => pages(listOf(all, {}), 2, query)
  const since = new Date(NOW - 150_000).toISOString()
  const until = new Date(NOW + YEAR_MS + 90_000).toISOString()
  assert.deepEqual((await of(`since:${since}`)).flat(), [
    near,
    past[4],
    past[3],
    ...ahead.toReversed(),
  ])
  assert.deepEqual((await of(`since:${since} until:${until}`)).flat(), [
    near,
    past[4],
    past[3],
    ahead[0],
  ])
})

test('without future runs the order does not change', async () => {
  assert.deepEqual((await pages(listOf(past, {}), 2)).flat(), past.toReversed())
  assert.deepEqual(await pages(listOf([], {}), 2), [[]])
})
