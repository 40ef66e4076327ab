import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { NewRun } from '../../port.ts'
import { temporaryDirectory } from '../contract/open-file.ts'
import { newRun } from '../contract/rows.ts'
import { type SqliteEngine, openEngine } from '../engine/engine.ts'
import { BINDING } from '../../contract/sessions/session-binding.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

function createWorld(path = ':memory:') {
  let nowMs = Date.UTC(2026, 0, 1)
  const engine = openEngine({ path, now: () => nowMs, exclusive: false, durability: 'normal' })
  return {
    engine,
    now: () => nowMs,
    advance: (ms: number) => {
      nowMs += ms
    },
  }
}

function submit({ operations }: SqliteEngine, ...submits: NewRun[]): void {
  operations.tick({ node: 1, submits, ends: [], cancels: [], claims: [] })
}

function cancel({ operations }: SqliteEngine, ...runs: number[]): void {
  const cancels = runs.map((runId) => ({ runId, projectId: 1 }))
  operations.tick({ node: 1, submits: [], ends: [], cancels, claims: [] })
}

function count({ raw }: SqliteEngine, table: string): unknown {
  return raw.prepare(`SELECT count(*) FROM ${table}`).pluck().get()
}

test('one call to prune examines a bounded number of rows, and a pass gets past rows that stay', () => {
  const { engine, now, advance } = createWorld()
  const ids = Array.from({ length: 300 }, (_, i) => i + 1)
  submit(engine, ...ids.map((id) => newRun(id)))
  cancel(engine, ...ids.slice(200))
  advance(DAY_MS)
  const ended = now()
  let calls = 0
  while (engine.operations.prune({ endedBefore: ended, limit: 10 }).more) calls += 1
  assert.ok(calls >= 10, `${calls} calls`)
  assert.equal(count(engine, 'run'), 200)
  // Rows that stayed are met again by the next pass, once they have ended.
  cancel(engine, ...ids.slice(0, 200))
  advance(DAY_MS)
  while (engine.operations.prune({ endedBefore: now(), limit: 50 }).more);
  assert.equal(count(engine, 'run'), 0)
})

test('a pass ends where all runs are younger than the limit', () => {
  const { engine, now, advance } = createWorld()
  submit(engine, newRun(1))
  cancel(engine, 1)
  advance(DAY_MS)
  submit(engine, ...Array.from({ length: 500 }, (_, i) => newRun(i + 2)))
  assert.deepEqual(engine.operations.prune({ endedBefore: now() - HOUR_MS, limit: 10 }), {
    more: true,
  })
  assert.deepEqual(engine.operations.prune({ endedBefore: now() - HOUR_MS, limit: 10 }), {
    more: false,
  })
})

test('expired idempotency keys are deleted in batches, dedupe keys of live runs stay', () => {
  const { engine, now, advance } = createWorld()
  const until = now() + DAY_MS
  const keyed = Array.from({ length: 4_500 }, (_, i) =>
    newRun(i + 1, { idempotency: { key: `k${i}`, digest: 'd', until } }),
  )
  submit(engine, ...keyed, newRun(5_000, { dedupeKey: 'live' }))
  advance(DAY_MS)
  assert.deepEqual(
    [
      engine.operations.maintain({ mayDelete: true }),
      engine.operations.maintain({ mayDelete: true }),
      engine.operations.maintain({ mayDelete: true }),
    ],
    [true, true, false],
  )
  assert.equal(count(engine, 'dedupe'), 1)
})

test('rows of dead nodes are deleted, but the slot keeps its id mark', () => {
  const { engine, advance } = createWorld()
  const join = () => engine.operations.join({ name: 'n', ttlMs: 1_000, graceMs: 0 })
  for (let i = 1; i <= 5; i += 1) {
    const node = join()?.node as number
    engine.operations.leave({ node, idMark: 1_000 * i })
  }
  advance(DAY_MS)
  engine.operations.maintain({ mayDelete: true })
  assert.equal(count(engine, 'node'), 1)
  assert.deepEqual([join()?.idFloor, join()?.slot], [5_000, 1])
})

test('lost sessions of a live node are deleted, those with leases are not', () => {
  const { engine, advance } = createWorld()
  const node = engine.operations.join({ name: 'n', ttlMs: 9e9, graceMs: 1 })?.node as number
  const sessions = [1, 2, 3]
  for (const session of sessions) engine.operations.openSession({ ...BINDING, node, session })
  submit(engine, newRun(1, { reservation: { session: 2, fence: 1_048_577 } }))
  for (const session of [1, 2]) engine.operations.markSessionLost({ session, registration: 1 })
  advance(8 * DAY_MS)
  engine.operations.maintain({ mayDelete: true })
  assert.deepEqual(engine.raw.prepare('SELECT id FROM session').pluck().all(), [2, 3])
})

test('abandoned sessions are deleted, those with leases are not', () => {
  const { engine, advance } = createWorld()
  const open = (session: number) => engine.operations.openSession({ ...BINDING, node: 1, session })
  open(1)
  open(2)
  submit(engine, newRun(1, { reservation: { session: 2, fence: 1_048_577 } }))
  advance(8 * DAY_MS)
  engine.operations.maintain({ mayDelete: true })
  assert.deepEqual(engine.raw.prepare('SELECT id FROM session').pluck().all(), [2])
})

function walBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
}

function fill(engine: SqliteEngine, firstId: number, megabytes: number): void {
  const input = JSON.stringify('x'.repeat(60_000))
  for (let i = 0; i < megabytes * 16; i += 1) {
    submit(engine, newRun(firstId + i, { input }))
    engine.settle()
  }
}

function openFile(context: TestContext) {
  const path = join(temporaryDirectory(context), 'punctual.db')
  const world = createWorld(path)
  context.after(() => world.engine.close())
  return { path, ...world }
}

test('the log is checkpointed as it grows, and truncated when idle', (context) => {
  const { path, engine } = openFile(context)
  fill(engine, 1, 100)
  assert.ok(walBytes(path) < 40e6, `the log has ${walBytes(path)} bytes`)
  engine.operations.maintain({ mayDelete: true })
  assert.ok(walBytes(path) > 0, 'a busy store is left alone')
  engine.operations.maintain({ mayDelete: true })
  assert.equal(walBytes(path), 0)
  assert.equal(engine.operations.liveCounts().ready, 1_600)
})

test('a long reader keeps the log from being reset; after it the log is checkpointed again', (context) => {
  const { path, engine } = openFile(context)
  submit(engine, newRun(1_000_000))
  const reader = openEngine({ path, exclusive: false })
  reader.raw.exec('BEGIN; SELECT * FROM run')
  fill(engine, 1, 60)
  const held = walBytes(path)
  assert.ok(held > 50e6)
  reader.raw.exec('COMMIT')
  fill(engine, 10_000, 60)
  assert.ok(walBytes(path) < held + 40e6, `the log has ${walBytes(path)} bytes`)
  reader.close()
})
