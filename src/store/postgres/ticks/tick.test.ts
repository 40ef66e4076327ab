import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endCommandFor, only, runIds } from '../../contract/fixture.ts'
import { putTestWebhook, queuedEvents } from '../../contract/webhooks/webhook-fixture.ts'
import { onFreshStores, type StoreWorld } from '../../contract/world.ts'
import type { Store, TickBatch } from '../../port.ts'
import { connectAdmin, openIn, untilLockWait } from '../postgres.fixture.ts'
import { openPostgresStore } from '../store.ts'

let where = { url: '', schema: '' }
const inWorld = onFreshStores(openIn({ place: (place) => (where = place) }))

/** Another node on the same data, without cached knowledge. */
async function besides(world: StoreWorld, body: (other: Store) => Promise<void>): Promise<void> {
  const other = await openPostgresStore({ ...where, now: world.clock.now })
  try {
    await body(other)
  } finally {
    await other.close()
  }
}

test(
  'a node that never used a gate still admits the next run when it ends one that holds the gate',
  inWorld(async (world) => {
    const gates = [await world.gate('door', 1)]
    const [first, second] = world.newRuns(2, { gates })
    await world.submit(first!, second!)
    const lease = only(await world.claim(2))
    await besides(world, async (other) => {
      const plain = world.newRun()
      const result = await other.tick({
        node: world.node,
        submits: [plain],
        ends: [endCommandFor(lease)],
        cancels: [],
        claims: [world.demand(5)],
      })
      assert.deepEqual(result.submits, [{ kind: 'inserted' }])
      assert.deepEqual(result.ends, ['ended'])
      assert.deepEqual(runIds(only(result.claims)), [second!.id, plain.id])
      assert.deepEqual(result.refilled, [world.lane])
    })
  }),
)

test(
  'a cancel on one node frees a gate for a run of another',
  inWorld(async (world) => {
    const gates = [await world.gate('door', 1)]
    const [first, second] = world.newRuns(2, { gates })
    await world.submit(first!, second!)
    await besides(world, async (other) => {
      const cancels = [{ runId: first!.id, projectId: world.project }]
      await other.tick({ node: world.node, submits: [], ends: [], cancels, claims: [] })
    })
    assert.equal(await world.stateOf(second!.id), 'ready')
  }),
)

test(
  'a batch with one repeat among new runs inserts the new ones and does everything else',
  inWorld(async (world) => {
    const [known, fresh] = world.newRuns(2)
    await world.submit(known!)
    const lease = only(await world.claim(1))
    const result = await world.tick({
      submits: [fresh!, known!],
      ends: [endCommandFor(lease)],
      claims: [world.demand(2)],
    })
    assert.deepEqual(result.submits, [{ kind: 'inserted' }, { kind: 'exists' }])
    assert.deepEqual(result.ends, ['ended'])
    assert.deepEqual(runIds(only(result.claims)), [fresh!.id])
  }),
)

test(
  'a cancel finds a run wherever another transaction is taking it',
  inWorld(async (world) => {
    const [run, other] = world.newRuns(2, { dueAt: world.clock.now() + 10 })
    await world.submit(run!, other!)
    world.clock.advance(10)
    // Promotion, claim and cancel all at once: the run is cancelled or marked, never missed.
    const [, , verdict] = await Promise.all([
      world.store.promote({ positions: [world.mint(), world.mint()] }),
      world.claim(2),
      world.cancel(run!.id),
    ])
    const state = await world.stateOf(run!.id)
    assert.equal(verdict.kind, state === 'running' ? 'marked' : 'cancelled')
  }),
)

test(
  'two nodes that submit one key at once create one run, and both return it',
  inWorld(async (world) => {
    await besides(world, async (other) => {
      for (let round = 0; round < 10; round += 1) {
        const [mine, theirs] = world.newRuns(2, { dedupeKey: `k${round}` })
        const batch = { node: world.node, ends: [], cancels: [], claims: [] }
        const [a, b] = await Promise.all([
          world.store.tick({ ...batch, submits: [mine!] }),
          other.tick({ ...batch, submits: [theirs!] }),
        ])
        const verdicts = [only(a.submits), only(b.submits)]
        const winner = verdicts[0]!.kind === 'inserted' ? mine! : theirs!
        assert.deepEqual(verdicts.map(({ kind }) => kind).toSorted(), ['duplicate', 'inserted'])
        assert.ok(verdicts.some((one) => 'id' in one && one.id === winner.id))
      }
    })
  }),
)

test(
  'a refused key leaves no row behind',
  inWorld(async (world) => {
    const until = world.clock.now() + 1_000
    await world.submit(world.newRun({ dedupeKey: 'held' }))
    await world.submit(
      world.newRun({ dedupeKey: 'held', idempotency: { key: 'free', digest: 'd', until } }),
    )
    const admin = await connectAdmin(where.url)
    const count = async (table: string) => {
      const sql = `SELECT count(*)::int AS rows FROM ${where.schema}.${table}`
      return (await admin.query<{ rows: number }>(sql)).rows[0]!.rows
    }
    assert.deepEqual([await count('dedupe'), await count('idempotency')], [1, 0])
    await admin.end()
  }),
)

const WITHOUT_ADMISSION: readonly [
  what: string,
  more: (world: StoreWorld) => Promise<Partial<TickBatch>>,
][] = [
  ['a key', async (world) => ({ submits: [world.newRun({ dedupeKey: 'once' })] })],
  [
    'a cancel',
    async (world) => {
      const run = world.newRun()
      await world.submit(run)
      return { cancels: [{ runId: run.id, projectId: world.project }] }
    },
  ],
]

for (const [what, more] of WITHOUT_ADMISSION) {
  test(
    `a tick with ${what} that waits for a gate does not block webhook events of other ticks`,
    inWorld(async (world) => {
      await putTestWebhook(world)
      const lease = await world.start({ gates: [await world.gate('door', 1)] })
      const others = await more(world)
      const [holder, observer] = [await connectAdmin(where.url), await connectAdmin(where.url)]
      try {
        await holder.query('BEGIN')
        await holder.query(`SELECT FROM ${where.schema}.gate FOR UPDATE`)
        const ends = [endCommandFor(lease, { to: 'failed', cause: 'exit' })]
        const ticking = world.tick({ ...others, ends })
        await untilLockWait(observer, 1, 'the tick to wait for the gate')
        await observer.query(`SELECT FROM ${where.schema}.outbox_wish FOR UPDATE NOWAIT`)
        await holder.query('COMMIT')
        assert.deepEqual((await ticking).ends, ['ended'])
        assert.deepEqual(await queuedEvents(world), [[lease.runId, 'run.failed']])
      } finally {
        await holder.end()
        await observer.end()
      }
    }),
  )
}
