import assert from 'node:assert/strict'
import { msOfId, parsePublicId } from '../../src/core/ids.ts'
import { startNode } from '../../src/server/node/start-node.ts'
import { createRowBlobs } from '../../src/blobs/store/blobs.ts'
import { DEFAULT_CONFIG } from '../../src/server/cluster/config.ts'
import type { Store } from '../../src/store/port.ts'
import { openEngine, createStoreOnEngine, type SqliteEngine } from '../../src/store/sqlite/store.ts'
import { createSeeded } from '../sim/seeded.ts'
import { createVirtualClock, type VirtualClock } from '../support/virtual-clock.ts'
import { putSchedule } from './occurrence-lines.ts'

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
export const YEAR = 365 * DAY
export const START = Date.UTC(2026, 0, 1)

/** A server on an in-memory store, alone as on a file. Its wall clock can be set. */
export async function startServer(
  given: {
    clock?: VirtualClock
    engine?: SqliteEngine
    boot?: () => number
    /** How far the store's clock is ahead of the node's. */
    storeAheadMs?: () => number
    /** The same store with some methods broken. */
    breakStore?: (store: Store) => Store
  } = {},
) {
  const clock = given.clock ?? createVirtualClock(START)
  const now = () => Math.floor(clock.now() + (given.storeAheadMs?.() ?? 0))
  const engine = given.engine ?? openEngine({ path: ':memory:', now, exclusive: true })
  const store = (given.breakStore ?? ((whole) => whole))(createStoreOnEngine(engine))
  const logLines: string[] = []
  const errors: unknown[] = []
  const node = await startNode({
    store,
    blobs: createRowBlobs(store),
    clock: { ...clock, ...(given.boot && { boot: given.boot }) },
    random: createSeeded(1).random,
    config: { ...DEFAULT_CONFIG, keepMs: 90 * DAY },
    onError: (error) => errors.push(error),
    onWarn: (message) => logLines.push(message),
  })
  const client = node.clientFor('default')
  /** The newest run of the list, and the wall time of its id. */
  const newest = async () => {
    const { runs } = await client.listRuns({ limit: 1 })
    const id = runs[0]?.id ?? ''
    return { id, at: msOfId(parsePublicId('run', id) as number) }
  }
  const submit = async (idempotencyKey?: string) => {
    const [answer] = await client.submit([
      { job: 'by-hand', ...(idempotencyKey === undefined ? {} : { idempotencyKey }) },
    ])
    return answer?.id ?? ''
  }
  const outcomes = (from: number, until: number) =>
    engine.raw
      .prepare<[number, number], { nominal_at: number; outcome: number }>(
        'SELECT nominal_at, outcome FROM occurrence WHERE nominal_at > ? AND nominal_at <= ? ORDER BY 1',
      )
      .all(from, until)
  const count = (table: string) =>
    engine.raw.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get()
  return { clock, now, engine, node, client, logLines, errors, newest, submit, outcomes, count }
}

export type Server = Awaited<ReturnType<typeof startServer>>

/** From here on, the schedule that fires every second does so in real time. */
export async function assertFiresEachSecond({ clock, now, outcomes }: Server, forMs = 10 * SECOND) {
  const from = Math.floor(now() / SECOND) * SECOND
  await clock.advance(forMs + 500)
  const fired = outcomes(from, from + forMs)
  assert.equal(fired.length, forMs / SECOND, 'one occurrence each second')
  assert.ok(
    fired.every(({ outcome }) => outcome === 0),
    'in time',
  )
}

/** A run submitted now is the first of the list, its id is of now, and a repeat of an old key finds its run. */
export async function assertSane(server: Server, key: { name: string; id: string }) {
  const { now, submit, newest, errors } = server
  assert.equal(await submit(key.name), key.id, 'the repeat returns the first run')
  const id = await submit()
  const listed = await newest()
  assert.equal(listed.id, id, 'the newest run is listed first')
  assert.ok(Math.abs(listed.at - now()) <= MINUTE, `its id is of ${listed.at - now()} ms from now`)
  assert.deepEqual(errors, [])
}

/** With a schedule that fires every second, a month of ended runs, and an idempotency key. */
export async function startBusy(given: Parameters<typeof startServer>[0] = {}) {
  const server = await startServer(given)
  await putSchedule(
    server.node,
    { every: '1s' },
    { overlap: { kind: 'allow' }, missed: { kind: 'skip' } },
  )
  const key = { name: 'pay-7', id: await server.submit('pay-7') }
  await server.clock.advance(30 * SECOND)
  return { ...server, key }
}
