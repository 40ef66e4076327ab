import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RunState } from '../../core/run/run-state.ts'
import { hasBegun, type JobStatus, jobStatus, type RunStatus, runStatus } from './statuses.ts'

const TABLE: [
  why: string,
  run: { state: RunState; attempt: number; startedAt: number | null },
  job: JobStatus,
  run: RunStatus | 'not begun',
][] = [
  ['waits for a worker', { state: 'ready', attempt: 1, startedAt: null }, 'pending', 'not begun'],
  [
    'waits for its time',
    { state: 'scheduled', attempt: 1, startedAt: null },
    'pending',
    'not begun',
  ],
  ['waits at a gate', { state: 'blocked', attempt: 1, startedAt: null }, 'pending', 'not begun'],
  ['runs', { state: 'running', attempt: 1, startedAt: 5 }, 'running', 'running'],
  [
    'waits to be tried again',
    { state: 'scheduled', attempt: 2, startedAt: null },
    'pending',
    'running',
  ],
  ['was lost and waits', { state: 'ready', attempt: 2, startedAt: null }, 'pending', 'running'],
  ['succeeded', { state: 'succeeded', attempt: 1, startedAt: 5 }, 'succeeded', 'success'],
  ['failed', { state: 'failed', attempt: 3, startedAt: 5 }, 'failed', 'failure'],
  ['was cancelled at work', { state: 'cancelled', attempt: 1, startedAt: 5 }, 'failed', 'failure'],
  [
    'was cancelled before',
    { state: 'cancelled', attempt: 1, startedAt: null },
    'failed',
    'not begun',
  ],
  ['was skipped', { state: 'skipped', attempt: 1, startedAt: null }, 'failed', 'not begun'],
]

for (const [why, run, job, ofRun] of TABLE) {
  test(`a run that ${why} is ${job} as a job and ${ofRun} as a run`, () => {
    assert.equal(jobStatus(run), job)
    assert.equal(hasBegun(run) ? runStatus(run) : 'not begun', ofRun)
  })
}

const CYCLES: [
  why: string,
  latest: RunState,
  job: { willRecur: boolean; isRunning: boolean },
  expected: JobStatus,
][] = [
  ['that succeeded and runs again', 'succeeded', { willRecur: true, isRunning: false }, 'pending'],
  ['that failed and runs again', 'failed', { willRecur: true, isRunning: false }, 'pending'],
  ['that was skipped and runs again', 'skipped', { willRecur: true, isRunning: false }, 'pending'],
  ['that is running', 'running', { willRecur: true, isRunning: true }, 'running'],
  ['whose latest run waits', 'ready', { willRecur: true, isRunning: false }, 'pending'],
  [
    'whose latest run waits for another',
    'blocked',
    { willRecur: true, isRunning: true },
    'running',
  ],
  ['whose last time has passed', 'failed', { willRecur: false, isRunning: false }, 'failed'],
  ['whose last run is done', 'succeeded', { willRecur: false, isRunning: false }, 'succeeded'],
]
for (const [why, state, job, expected] of CYCLES) {
  test(`a recurring job ${why} is ${expected}`, () => {
    assert.equal(jobStatus({ state, attempt: 1, startedAt: 5 }, job), expected)
  })
}

test('a job that has never run is pending', () => assert.equal(jobStatus(undefined), 'pending'))
