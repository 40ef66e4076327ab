// Bugs that the chaos suite has found, each reduced to a few lines.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createRowBlobs } from '../../src/blobs/store/blobs.ts'
import { DEFAULT_CONFIG } from '../../src/server/cluster/config.ts'
import { startNode } from '../../src/server/node/start-node.ts'
import { BINDING } from '../../src/store/contract/sessions/session-binding.ts'
import { openEngine, createStoreOnEngine } from '../../src/store/sqlite/store.ts'
import { startInMemory } from '../integration/scheduler-in-memory.ts'
import { registerManualWorker } from '../integration/manual-worker.ts'
import { createSeeded } from '../sim/seeded.ts'

test('a run granted while names are looked up is not sent under a made-up name', async (t) => {
  const { clock, engine, node: before } = await startInMemory()
  const soon = clock.now() + 20
  await before.clientFor('default').submit([{ job: 'one' }, { job: 'other', runAt: soon }])
  await before.stop()

  const lookedUp = Promise.withResolvers<void>()
  const store = createStoreOnEngine(engine)
  const jobNames: typeof store.jobNames = async (ids) => {
    await lookedUp.promise
    return store.jobNames(ids)
  }
  const random = createSeeded(2).random
  const slow = { ...store, jobNames }
  const node = await startNode({
    store: slow,
    blobs: createRowBlobs(store),
    clock,
    random,
    config: DEFAULT_CONFIG,
  })
  t.after(() => node.stop())
  const worker = await registerManualWorker(node.clientFor('default'), { jobs: ['one', 'other'] })

  const answer = worker.exchange()
  await clock.advance(30)
  lookedUp.resolve()
  const granted = [...(await answer).runs, ...(await worker.take())]
  assert.deepEqual(
    granted.map(({ job }) => job),
    ['one', 'other'],
  )
})

test('a session that outlived its server does not push run ids ahead', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'punctual-track-record-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const open = async () => {
    const store = createStoreOnEngine(openEngine({ path: join(dir, 'punctual.db') }))
    return { store, joined: await store.join({ name: 'node', ttlMs: 5_000, graceMs: 5_000 }) }
  }
  const session = 2 ** 52
  const { store, joined } = await open()
  const node = joined?.node ?? 0
  await store.openSession({ ...BINDING, node, session })
  await store.close()
  const { store: again, joined: replacement } = await open()
  await again.close()
  assert.ok((replacement?.idFloor ?? session) < session, `ids start at ${replacement?.idFloor}`)
})
