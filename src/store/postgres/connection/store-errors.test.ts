import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { endCommandFor } from '../../contract/fixture.ts'
import { onFreshStores, type StoreWorld } from '../../contract/world.ts'
import { StoreError, type TickBatch } from '../../port.ts'
import { Connection } from './connection.ts'
import { startCutProxy, type CutProxy, type CutAction } from './cut-proxy.fixture.ts'
import { connectAdmin, fileDatabase, openIn } from '../postgres.fixture.ts'
import { read, transact } from './transaction.ts'

function behindProxy(body: (world: StoreWorld, proxy: CutProxy) => Promise<void>) {
  return async (t: TestContext): Promise<void> => {
    const proxy = await startCutProxy(await fileDatabase())
    try {
      await onFreshStores(openIn({ url: proxy.url }))((world) => body(world, proxy))(t)
    } finally {
      await proxy.close()
    }
  }
}

/** Cuts once, at the first match of `when`, and lets everything pass from then on. */
function cutOnce(proxy: CutProxy, action: CutAction, when: (sent: string) => boolean): void {
  let isDone = false
  proxy.watch((sent) => {
    if (isDone || !when(sent.toString('latin1'))) return 'pass'
    isDone = true
    return action
  })
}

const isCommit = (sent: string) => sent.includes('COMMIT\0')
const isStatement = (name: string) => (sent: string) => sent.includes(`\0${name}\0`)

interface CutCase {
  readonly why: string
  /** A tick and where to cut it. The server has prepared the statements by then. */
  readonly batch: (world: StoreWorld) => Partial<TickBatch>
  readonly at: (sent: string) => boolean
  readonly action: CutAction
  readonly outcome: StoreError['outcome']
  readonly isWritten: boolean
}

const submitAndClaim = (world: StoreWorld) => ({
  submits: world.newRuns(3),
  claims: [world.demand(1)],
})
const submitAndCancel = (world: StoreWorld) => ({
  submits: world.newRuns(3),
  cancels: [{ runId: world.mint(), projectId: world.project }],
})

const CUTS: readonly CutCase[] = [
  {
    why: 'a connection cut after COMMIT was sent: the outcome is unknown, and the commit happened',
    batch: submitAndClaim,
    at: isCommit,
    action: 'cut after',
    outcome: 'unknown',
    isWritten: true,
  },
  {
    why: 'a connection cut while COMMIT is on its way: the outcome is unknown, and the commit did not happen',
    batch: submitAndClaim,
    at: isCommit,
    action: 'cut before',
    outcome: 'unknown',
    isWritten: false,
  },
  {
    why: 'a connection cut after a statement that commits by itself: the outcome is unknown',
    batch: (world) => ({ submits: world.newRuns(3) }),
    at: isStatement('submit-without-options'),
    action: 'cut after',
    outcome: 'unknown',
    isWritten: true,
  },
  {
    why: 'a connection cut before COMMIT was sent: nothing was stored',
    batch: submitAndCancel,
    at: isStatement('cancel'),
    action: 'cut after',
    outcome: 'unavailable',
    isWritten: false,
  },
]

for (const { why, batch, at, action, outcome, isWritten } of CUTS) {
  test(
    why,
    behindProxy(async (world, proxy) => {
      // Both hot connections prepare their statements before anything is cut.
      for (let warmUp = 0; warmUp < 2; warmUp += 1) {
        await Promise.all([world.tick(batch(world)), world.tick(batch(world))])
      }
      const cut = batch(world)
      cutOnce(proxy, action, at)
      await assert.rejects(world.tick(cut), (error: unknown) => {
        return error instanceof StoreError && error.outcome === outcome
      })
      const ids = (cut.submits ?? []).map(({ id }) => id)
      const isThere = async () => {
        const found = await Promise.all(
          ids.map((runId) => world.store.findRun({ projectId: world.project, runId })),
        )
        return found.every((run) => run !== null)
      }
      if (isWritten) await waitFor(isThere, { what: 'the commit to be seen' })
      else assert.equal(await isThere(), false)

      // Repeated with the same ids, it exists exactly once.
      const again = await waitFor(() => world.tick({ submits: cut.submits ?? [] }), {
        what: 'the connection to come back',
      })
      const kind = isWritten ? 'exists' : 'inserted'
      assert.deepEqual(
        again.submits,
        ids.map(() => ({ kind })),
      )
    }),
  )
}

test(
  'an end whose answer was lost is a replay the second time',
  behindProxy(async (world, proxy) => {
    const nothing = { ends: [endCommandFor({ runId: 1, fence: 1 })] }
    await Promise.all([world.tick(nothing), world.tick(nothing)])
    const lease = await world.start()
    cutOnce(proxy, 'cut after', isStatement('succeed'))
    await assert.rejects(world.end(lease), { outcome: 'unknown' })
    const isEnded = async () => (await world.stateOf(lease.runId)) === 'succeeded'
    await waitFor(isEnded, { what: 'the ending to be seen' })
    assert.equal(await world.end(lease), 'replayed')
  }),
)

test('a connection that stops answering is closed, and the next one is tried', async () => {
  const proxy = await startCutProxy(await fileDatabase())
  const ignore = () => {}
  const connection = await Connection.open({
    url: proxy.url,
    role: 'reading',
    schema: 'none',
    onWarn: ignore,
    onConnectionSetUp: ignore,
    answerMs: 200,
  })
  try {
    const one = { name: '', text: 'SELECT 1 AS one' }
    cutOnce(proxy, 'mute', () => true)
    await assert.rejects(read(connection, one), { outcome: 'unavailable' })
    const rows = await waitFor(() => read(connection, one), { what: 'a new connection' })
    assert.deepEqual(rows, [{ one: 1 }])
  } finally {
    await connection.close()
    await proxy.close()
  }
})

const SERVER_SAYS: readonly [code: string, outcome: StoreError['outcome'], tries: number][] = [
  ['40001', 'unavailable', 5],
  ['40P01', 'unavailable', 5],
  ['55P03', 'unavailable', 5],
  ['22003', 'refused', 1],
  ['23502', 'refused', 1],
  ['53100', 'unavailable', 1],
  ['57014', 'unavailable', 1],
]

for (const [code, outcome, tries] of SERVER_SAYS) {
  test(`error ${code} is ${outcome}, after ${tries} ${tries === 1 ? 'try' : 'tries'}`, async () => {
    const ignore = () => {}
    const url = await fileDatabase()
    const options = {
      url,
      role: 'duty' as const,
      schema: 'none',
      onWarn: ignore,
      onConnectionSetUp: ignore,
    }
    const connection = await Connection.open(options)
    const raise = `DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${code}'; END $$`
    let tried = 0
    const failing = transact(connection, async (tx) => {
      tried += 1
      await tx.query({ name: '', text: raise })
    })
    await assert.rejects(failing, { outcome })
    assert.equal(tried, tries)
    await connection.close()
  })
}

test('two ticks that block each other both succeed', async (t) => {
  let where = { url: '', schema: '' }
  const open = openIn({ place: (place) => (where = place) })
  await onFreshStores(open)(async (world) => {
    const admin = await connectAdmin(where.url)
    const lease = await world.start()
    await admin.query(`BEGIN; SELECT * FROM ${where.schema}.lease FOR UPDATE`)
    const ending = world.end(lease)
    await waitFor(
      async () => {
        const { rows } = await admin.query(`SELECT FROM pg_locks WHERE NOT granted`)
        return rows.length > 0
      },
      { what: 'the tick to wait' },
    )
    await admin.query('COMMIT')
    assert.equal(await ending, 'ended')
    await admin.end()
  })(t)
})
