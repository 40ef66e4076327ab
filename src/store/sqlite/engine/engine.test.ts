import assert from 'node:assert/strict'
import { test } from 'node:test'
import { installTrace, readTrace } from '../../../../test/support/trace-sqlite.ts'
import { fenceOf } from '../../../core/run/fence.ts'
import { EMPTY_BATCH, endCommandFor } from '../../contract/fixture.ts'
import type { TickBatch } from '../../port.ts'
import { newRun } from '../contract/rows.ts'
import { openEngine, createStoreOnEngine } from '../store.ts'

test('nodes that share an engine see the same data, each under its own slot', async () => {
  const engine = openEngine({ path: ':memory:', exclusive: false, now: () => 1_000 })
  const [a, b] = [createStoreOnEngine(engine), createStoreOnEngine(engine)]
  const join = { name: 'n', ttlMs: 1_000, graceMs: 0 }
  const [first, second] = [await a.join(join), await b.join(join)]
  assert.deepEqual([first?.slot, second?.slot], [0, 1])
  await a.tick({ ...EMPTY_BATCH, node: 1, submits: [newRun(1)] })
  const demand = { laneId: 1, sessions: [1], salts: [7], floor: null }
  const { claims } = await b.tick({ ...EMPTY_BATCH, node: 2, claims: [demand] })
  assert.equal(claims[0]?.[0]?.runId, 1)
  assert.equal((await a.findRun({ projectId: 1, runId: 1 }))?.state, 'running')
})

test('a trace contains the whole life of a run, in order of events', () => {
  let nowMs = 1_000
  const { operations, raw } = openEngine({ path: ':memory:', now: () => nowMs })
  installTrace(raw)
  const [gate = 0] = operations.internGates([{ projectId: 1, name: 'door', capacity: 1 }])
  const tick = (batch: Partial<TickBatch>) => operations.tick({ ...EMPTY_BATCH, node: 1, ...batch })
  const demand = { laneId: 1, sessions: [1, 1], salts: [7, 7], floor: null }

  tick({ submits: [newRun(1, { gates: [gate] }), newRun(2, { gates: [gate] })] })
  tick({ claims: [demand] })
  const failed = { to: 'retry', cause: 'exit', delayMs: 10 } as const
  tick({ ends: [endCommandFor({ runId: 1, fence: fenceOf(1, 7) }, failed)] })
  tick({ cancels: [{ runId: 2, projectId: 1 }] })
  nowMs += 10
  operations.promote({ positions: [3] })
  tick({ claims: [demand] })
  tick({ ends: [endCommandFor({ runId: 1, fence: fenceOf(2, 7) })] })

  const transitions = readTrace(raw).map(({ runId, from, to, attempt, cause }) =>
    [runId, from ?? 'new', to, attempt, cause ?? ''].join(' ').trim(),
  )
  assert.deepEqual(transitions, [
    '1 new ready 1',
    '2 new blocked 1',
    '1 ready running 1',
    '1 running scheduled 2',
    '2 blocked ready 1',
    '2 ready cancelled 1 cancelled',
    '1 scheduled blocked 2',
    '1 blocked ready 2',
    '1 ready running 2',
    '1 running succeeded 2',
  ])
})
