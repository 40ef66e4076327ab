import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSeeded, type Seeded } from '../../../test/sim/seeded.ts'
import { createVirtualClock } from '../../../test/support/virtual-clock.ts'
import type { Blobs } from '../../blobs/port.ts'
import { createRowBlobs } from '../../blobs/store/blobs.ts'
import { createMinter } from '../../core/ids.ts'
import { EMPTY_BATCH, endCommandFor, NO_OPTIONS } from '../../store/contract/fixture.ts'
import type { NewRun } from '../../store/port.ts'
import { openEngine, createStoreOnEngine } from '../../store/sqlite/store.ts'
import { createPayloads } from '../payloads/payloads.ts'
import { collectBlobs } from './collect-blobs.ts'
import { submitLarge } from '../runs/submit-large.ts'

const HOUR_MS = 3_600_000
const ORPHAN_MS = 24 * HOUR_MS
const LARGE = 'x'.repeat(2_000)

/** The process dies here, and nothing after this point happens. */
class Crash extends Error {}

/** A store with blobs, and a hook that is called between any two operations. */
async function openWorld(random: () => number, between: () => Promise<void>) {
  const clock = createVirtualClock()
  const engine = openEngine({ path: ':memory:', now: () => Math.floor(clock.now()) })
  const store = createStoreOnEngine(engine)
  const rows = createRowBlobs(store)
  const area = await store.identity()
  const joined = await store.join({ name: 'n', ttlMs: 30_000, graceMs: 0 })
  assert.ok(joined)
  const { node, slot, idFloor } = joined
  const [projectId = 0] = await store.internProjects(['p'])
  const [jobId = 0] = await store.internJobs([{ projectId, name: 'j' }])
  const [laneId = 0] = await store.internLanes([
    { project: 'p', queue: 'q', labels: [], executor: 'handler:j', weight: 1 },
  ])
  const minter = createMinter({ slot, floor: idFloor, now: () => Math.floor(clock.now()), random })
  const blobs: Blobs = {
    ...rows,
    async put(name, bytes) {
      await between()
      const key = await rows.put(name, bytes)
      await between()
      return key
    },
  }
  const options = { blobs, clock, random, area, inlineBytes: 1_000, orphanMs: ORPHAN_MS }
  const payloads = createPayloads(options)
  const tick = async (batch: Partial<Parameters<typeof store.tick>[0]>) => {
    await between()
    const result = await store.tick({ ...EMPTY_BATCH, node, ...batch })
    await between()
    return result
  }
  const collect = collectBlobs({
    ...options,
    blobs: rows,
    store,
    aheadMs: () => 0,
    onCollected: () => {},
  })
  await collect()
  const acknowledged = new Set<string>()

  return {
    clock,
    store,
    rows,
    area,
    payloads,
    engine,
    acknowledged,
    collect,

    async submit(input: string): Promise<void> {
      const run: NewRun = { ...NO_OPTIONS, id: minter.mint(), projectId, jobId, laneId, input }
      const ticker = {
        async submit(runs: readonly NewRun[]) {
          await tick({ submits: runs })
          return runs.map(({ id }) => ({ id, created: true }))
        },
      }
      await submitLarge([run], { payloads, ticker, node: () => node })
      acknowledged.add(`${run.id} input`)
    },

    /** A worker takes a run and ends it with this result. */
    async finish(result: string): Promise<void> {
      const salts = [Math.floor(random() * 1_000)]
      const claims = [{ laneId, sessions: [1], salts, floor: null }]
      const { claims: granted } = await tick({ claims })
      const lease = granted[0]?.[0]
      if (!lease) return
      const kept = await payloads.keep(lease.runId, 'result', result)
      await tick({ ends: [endCommandFor(lease, { result: kept.text })] })
      await kept.settle()
      acknowledged.add(`${lease.runId} result`)
    },

    async prune(): Promise<void> {
      const endedBefore = Math.floor(clock.now()) - 40 * HOUR_MS
      await store.prune({ endedBefore, limit: 100 })
    },

    everything,
  }

  async function everything() {
    const filter = { projectId, state: null, jobId: null, before: Number.MAX_SAFE_INTEGER }
    const runs = await store.listRuns({ ...filter, limit: 1_000 })
    const { keys } = await rows.list({ area, after: null, olderThanMs: 0, limit: 10_000 })
    return { runs, keys }
  }
}

type World = Awaited<ReturnType<typeof openWorld>>

async function assertReadable(
  { everything, payloads }: World,
  isExpected: (text: string) => boolean = () => true,
): Promise<number> {
  let read = 0
  for (const run of (await everything()).runs) {
    for (const kind of ['input', 'result'] as const) {
      const text = run[kind]
      if (text === null || !isExpected(`${run.id} ${kind}`)) continue
      assert.ok((await payloads.read(run.id, kind, text)).startsWith(LARGE.slice(0, 5)))
      read += 1
    }
  }
  return read
}

/** Anything may happen between two steps, or nothing for days. */
function randomFault(seeded: Seeded, { clock, collect, prune }: World) {
  let depth = 0
  return async () => {
    if (depth > 0) return
    depth += 1
    try {
      if (seeded.chance(0.02)) throw new Crash('here')
      if (seeded.chance(0.2)) clock.freeze(seeded.int(HOUR_MS))
      if (seeded.chance(0.03)) clock.freeze(seeded.int(3 * ORPHAN_MS))
      if (seeded.chance(0.03)) clock.jumpWall(seeded.int(2 * HOUR_MS) - HOUR_MS)
      if (seeded.chance(0.3)) for (let step = 0; step < 4; step += 1) await collect()
      if (seeded.chance(0.05)) await prune()
    } finally {
      depth -= 1
    }
  }
}

for (const seed of [1, 2, 3, 4, 5, 6]) {
  test(`acknowledged data can be read whatever crashes, stalls and is pruned; seed ${seed}`, async (t) => {
    const seeded = createSeeded(seed)
    const hooks = { between: async () => {} }
    const world = await openWorld(seeded.random, () => hooks.between())
    t.after(() => world.engine.close())
    const between = randomFault(seeded, world)
    hooks.between = between
    let crashes = 0
    let read = 0
    for (let move = 0; move < 120; move += 1) {
      const text = LARGE + move
      try {
        await (seeded.chance(0.6) ? world.submit(text) : world.finish(text))
      } catch (error) {
        if (!(error instanceof Crash)) throw error
        crashes += 1
      }
      await between().catch(() => {})
      if (move % 10 === 0) {
        const { acknowledged } = world
        read += await assertReadable(world, (text) => acknowledged.has(text))
      }
    }
    assert.ok(crashes > 0 && read > 20, `${crashes} crashes, ${read} read: nothing was tried`)

    // In the end every referenced blob is there, and no other.
    world.clock.freeze(2 * ORPHAN_MS)
    for (let step = 0; step < 10; step += 1) await world.collect()
    const { keys, runs } = await world.everything()
    const named = runs.flatMap(({ input, result }) => [input, result]).filter((text) => text)
    for (const key of keys) {
      const name = key.slice(world.area.length + 1)
      assert.ok(
        named.some((text) => text?.endsWith(name)),
        `${name} is an orphan`,
      )
    }
    assert.ok(keys.length <= named.length)
  })
}

test('an old blob without a reference is deleted, and not before it is old', async (t) => {
  const world = await openWorld(Math.random, async () => {})
  t.after(() => world.engine.close())
  await world.submit(LARGE)
  const orphan = await world.payloads.keep(7, 'input', LARGE)
  assert.ok(orphan.text.includes('run_'))
  const count = async () => (await world.everything()).keys.length
  await world.collect()
  assert.equal(await count(), 2)
  world.clock.freeze(ORPHAN_MS - 1)
  await world.collect()
  assert.equal(await count(), 2)
  world.clock.freeze(1)
  await world.collect()
  assert.equal(await count(), 1)
  assert.equal(await assertReadable(world), 1)
})

test('the blobs of another database in the same place, and unknown names, are left alone', async (t) => {
  const world = await openWorld(Math.random, async () => {})
  t.after(() => world.engine.close())
  const bytes = Buffer.from('1')
  const strange = await world.rows.put({ area: world.area, label: 'artifact' }, bytes)
  const foreign = await world.rows.put({ area: 'other', label: 'run_00000000001-input-0' }, bytes)
  world.clock.freeze(3 * ORPHAN_MS)
  await world.collect()
  for (const key of [strange, foreign]) assert.deepEqual([...(await world.rows.get(key))], [49])
})

test("a run that refers to another run's blob, or to a former one, keeps nothing alive", async (t) => {
  const world = await openWorld(Math.random, async () => {})
  t.after(() => world.engine.close())
  await world.submit(LARGE)
  const { runs } = await world.everything()
  const [run] = runs
  await world.payloads.keep((run as { id: number }).id, 'input', `${LARGE}2`)
  world.clock.freeze(2 * ORPHAN_MS)
  await world.collect()
  const { keys } = await world.everything()
  assert.equal(keys.length, 1)
  assert.ok(run?.input?.endsWith((keys[0] as string).slice(world.area.length + 1)))
})

test('blobs do not become old because the wall clock is ahead of the trusted time', async () => {
  const asked: number[] = []
  const blobs = {
    async list({ olderThanMs }: { olderThanMs: number }) {
      asked.push(olderThanMs)
      return { keys: [], next: null }
    },
    async delete() {},
  }
  let aheadMs = 400 * 24 * HOUR_MS
  const collect = collectBlobs({
    blobs,
    store: { findRuns: async () => [] },
    random: () => 0,
    area: 'a',
    orphanMs: ORPHAN_MS,
    aheadMs: () => aheadMs,
    onCollected: () => {},
  })
  await collect()
  await collect()
  aheadMs = -HOUR_MS
  await collect()
  assert.deepEqual(asked, [ORPHAN_MS + 400 * 24 * HOUR_MS, ORPHAN_MS])
})
