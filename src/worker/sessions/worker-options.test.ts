import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PunctualError } from '../../core/errors.ts'
import { parseAllowedMount } from '../executors/container/allowed-mounts.ts'
import { createEngine } from '../executors/container/engine.ts'
import type { WorkerOptions } from './worker-options.ts'
import { readOptions } from './worker-options.ts'

const nested = ['/no', '/no/such:ro'].map(parseAllowedMount)
const handlers = { job: () => {} }
const minimal = { client: {} as WorkerOptions['client'], name: 'w1', handlers }

const wrong: [why: string, options: Partial<WorkerOptions>, field: string][] = [
  ['a worker needs a handler', { handlers: {} }, 'handlers'],
  ['a job name must be a name', { handlers: { 'a job': () => {} } }, 'handlers'],
  ['a worker needs a name', { name: '' }, 'name'],
  ['a worker needs a queue', { queues: [] }, 'queues'],
  ['a queue must be a name', { queues: ['a/b'] }, 'queues'],
  ['a label must be one', { labels: { gpu: 'a 100' } }, 'labels'],
  ['a user is not carried as a label', { labels: { 'run-as': 'root' } }, 'labels.run-as'],
  ['no slots is no worker', { slots: 0 }, 'slots'],
  ['half a slot is none', { slots: 1.5 }, 'slots'],
  ['there is a limit to slots', { slots: 10_001 }, 'slots'],
  [
    'what containers could exchange is not theirs to see',
    { processes: {}, containers: { engine: createEngine('podman'), allowMounts: nested } },
    'allow-mount',
  ],
  ['polls must end', { pollMs: Infinity }, 'pollMs'],
]

for (const [why, options, field] of wrong) {
  test(why, () => {
    assert.throws(
      () => readOptions({ ...minimal, ...options }),
      (error: PunctualError) => error.code === 'config_invalid' && error.field === field,
    )
  })
}

test('everything but the client, the name and the handlers has a default', () => {
  const { offer, pollMs } = readOptions(minimal)
  assert.deepEqual(offer, {
    name: 'w1',
    queues: ['default'],
    labels: {},
    executors: ['handler:job'],
    slots: 10,
    features: ['secrets'],
  })
  assert.equal(pollMs, 10_000)
})

test('names of inherited object members are not handlers', () => {
  assert.equal(readOptions(minimal).handlers.has('constructor'), false)
})
