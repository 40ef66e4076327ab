import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type EndedRun, statisticsOf } from './statistics.ts'

const took = (ms: number, state: EndedRun['state'] = 'succeeded'): EndedRun => ({
  state,
  startedAt: 1_000,
  finishedAt: 1_000 + ms,
})

test('counts ended runs, and takes times from those that succeeded', () => {
  const live: EndedRun = { state: 'running', startedAt: 1_000, finishedAt: null }
  const runs = [took(30), live, took(10), took(9_999, 'failed'), took(20)]
  assert.deepEqual(statisticsOf(runs), {
    runs: 4,
    succeeded: 3,
    failed: 1,
    p50_ms: 20,
    p95_ms: 30,
  })
})

test('has no figures for steps that were skipped or never ran', () => {
  const never: EndedRun = { state: 'skipped', startedAt: null, finishedAt: 5 }
  const nothing = { succeeded: 0, failed: 0, p50_ms: null, p95_ms: null }
  assert.deepEqual(statisticsOf([]), { runs: 0, ...nothing })
  assert.deepEqual(statisticsOf([never]), { runs: 1, ...nothing })
})

test('half of the runs are no slower than the median, and 95 % no slower than p95', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => took(index + 1))
  const { p50_ms, p95_ms } = statisticsOf(hundred)
  assert.deepEqual([p50_ms, p95_ms], [50, 95])
})
