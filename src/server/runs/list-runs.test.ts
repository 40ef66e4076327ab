import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRunFilter } from '../../core/run/run-filter.ts'
import type { RunSearch } from '../../store/port.ts'
import { queryRunPage } from './list-runs.ts'

function stage() {
  const asked: (readonly string[])[] = []
  const searched: RunSearch[] = []
  const store = {
    findJobs: async ({ names }: { names: readonly string[] }) => {
      asked.push(names)
      return names.map((_, index) => index + 1)
    },
    searchRuns: async (search: RunSearch) => {
      searched.push(search)
      return { runs: [], before: null }
    },
  }
  const list = (query: string) =>
    queryRunPage(
      { projectId: 1, filter: parseRunFilter(query, 0), before: 1_000, limit: 10 },
      store,
    )
  return { asked, searched, list }
}

test('a filter with a thousand jobs asks the store once, and once per name', async () => {
  const { asked, searched, list } = stage()
  const names = Array.from({ length: 900 }, (_, nth) => (nth % 2 === 0 ? 'a' : 'b'))
  await list(`job:${names.join()}`)
  assert.deepEqual(asked, [['a', 'b']])
  assert.deepEqual(searched[0]?.jobIds, [1, 2])
})

test('a filter without jobs, or with a pattern, does not look up jobs', async () => {
  const { asked, searched, list } = stage()
  await list('state:failed')
  await list('job:a*,b')
  assert.deepEqual(asked, [])
  assert.deepEqual(
    searched.map(({ jobIds, jobNames }) => [jobIds, jobNames]),
    [
      [null, null],
      [null, ['a*', 'b']],
    ],
  )
})
