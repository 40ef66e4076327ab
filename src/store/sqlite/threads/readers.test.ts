import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { EMPTY_BATCH } from '../../contract/fixture.ts'
import { StoreError } from '../../port.ts'
import { temporaryDirectory } from '../contract/open-file.ts'
import { newRun } from '../contract/rows.ts'
import { openEngine } from '../engine/engine.ts'
import { createReaders } from './readers.ts'
import { openSqliteStore } from '../store.ts'

const SEARCH = {
  projectId: 1,
  states: null,
  jobIds: null,
  jobNames: null,
  queues: null,
  workers: null,
  causes: null,
  tags: [],
  withoutSteps: false,
  from: 0,
  before: Number.MAX_SAFE_INTEGER,
  limit: 10,
  examine: 1_000,
  maxMs: 60_000,
}

function openWithReaders(context: TestContext, count = 1) {
  const path = join(temporaryDirectory(context), 'punctual.db')
  const engine = openEngine({ path, durability: 'normal', now: () => 1_000 })
  const readers = createReaders({ path, count, onFatal: assert.fail })
  context.after(async () => {
    await readers.close(false)
    engine.close()
  })
  return { path, engine, readers }
}

test('a reader thread sees what was committed before the query was sent', async (context) => {
  const { engine, readers } = openWithReaders(context)
  assert.deepEqual((await readers.call('searchRuns', SEARCH)).runs, [])
  engine.operations.tick({ ...EMPTY_BATCH, node: 1, submits: [newRun(5, { projectId: 1 })] })
  const { runs } = await readers.call('searchRuns', SEARCH)
  assert.deepEqual(
    runs.map(({ id }) => id),
    [5],
  )
})

test('threads are started on demand, up to the limit', async (context) => {
  const { readers } = openWithReaders(context, 2)
  assert.equal(readers.workers.length, 0)
  await readers.call('liveCounts')
  assert.equal(readers.workers.length, 1)
  await Promise.all(Array.from({ length: 6 }, () => readers.call('liveCounts')))
  assert.equal(readers.workers.length, 2)
})

test('a reader thread that dies fails its own queries, and the next query gets a new thread', async (context) => {
  const { readers } = openWithReaders(context)
  await readers.call('liveCounts')
  const [worker] = readers.workers
  // Not a request: it throws an uncaught error, as a bug in the thread would.
  worker?.postMessage(null)
  await assert.rejects(
    readers.call('liveCounts'),
    (error) =>
      error instanceof StoreError &&
      error.outcome === 'unavailable' &&
      /reader thread exited/.test(error.message),
  )
  assert.equal((await readers.call('liveCounts')).ready, 0)
  assert.notEqual(readers.workers[0], worker)
})

test('a reader thread reports damage that it meets when it opens the database', async (context) => {
  const path = join(temporaryDirectory(context), 'punctual.db')
  writeFileSync(path, 'no database'.repeat(1_000))
  const fatal: StoreError[] = []
  const readers = createReaders({ path, count: 1, onFatal: (error) => fatal.push(error) })
  context.after(() => readers.close(false))
  const isDamage = (error: unknown) => error instanceof StoreError && error.trouble === 'damaged'
  await assert.rejects(readers.call('liveCounts'), isDamage)
  assert.deepEqual(fatal.map(isDamage), [true])
})

test('closing answers the queries under way, and refuses later ones', async (context) => {
  const path = join(temporaryDirectory(context), 'punctual.db')
  const store = await openSqliteStore({ path, durability: 'normal' })
  const underWay = [store.searchRuns(SEARCH), store.searchRuns(SEARCH)]
  const closing = store.close()
  assert.deepEqual(await Promise.all(underWay), [
    { runs: [], before: null },
    { runs: [], before: null },
  ])
  await assert.rejects(store.searchRuns(SEARCH), /the store is closed/)
  await closing
})

test('no page keeps a snapshot after its answer, so a checkpoint can finish', async (context) => {
  const { engine, readers } = openWithReaders(context)
  engine.operations.tick({ ...EMPTY_BATCH, node: 1, submits: [newRun(1)] })
  await readers.call('searchRuns', SEARCH)
  engine.operations.tick({ ...EMPTY_BATCH, node: 1, submits: [newRun(2)] })
  const [state] = engine.raw.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[]
  assert.equal(state?.busy, 0)
})

test('runs older than the tag index are found by scanning', async (context) => {
  const { engine } = openWithReaders(context)
  const tagged = (id: number) => newRun(id, { projectId: 1, tags: '{"team":"a"}' })
  engine.operations.tick({ ...EMPTY_BATCH, node: 1, submits: [tagged(5), newRun(6), tagged(7)] })
  // As an upgrade leaves it: the index has no tags of runs up to 6.
  engine.raw.exec(`DELETE FROM run_tag WHERE run_id <= 6`)
  engine.raw.exec(`UPDATE meta SET value = 7 WHERE key = 'tags_indexed_from'`)
  const tags = [{ name: 'team', values: ['a'] }]
  const page = engine.operations.searchRuns({ ...SEARCH, tags })
  assert.deepEqual([page.runs.map(({ id }) => id), page.before], [[7, 5], null])
  const nope = engine.operations.searchRuns({ ...SEARCH, tags: [{ name: 'team', values: ['b'] }] })
  assert.deepEqual(nope, { runs: [], before: null })
})

test(
  'reader threads run below the priority of the others',
  {
    skip: existsSync('/proc/self/task') ? false : 'needs /proc',
  },
  async (context) => {
    const { readers } = openWithReaders(context)
    await readers.call('liveCounts')
    const nices = () =>
      readdirSync('/proc/self/task').map((id) => {
        const stat = readFileSync(`/proc/self/task/${id}/stat`, 'utf8')
        return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])
      })
    const own = Number(readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ')[16])
    await waitFor(() => nices().some((nice) => nice > own || own >= 5), {
      what: 'a lower priority',
    })
  },
)
