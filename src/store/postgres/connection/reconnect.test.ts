import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import {
  startPostgres,
  type PostgresServer,
  type StopMode,
} from '../../../../test/support/postgres-server.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { sortedNumbers } from '../../contract/fixture.ts'
import { onFreshStores, type StoreWorld } from '../../contract/world.ts'
import { StoreError, type NewRun } from '../../port.ts'
import { connectAdmin, openIn } from '../postgres.fixture.ts'
import { openPostgresStore } from '../store.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.stop())

function inWorld(body: (world: StoreWorld) => Promise<void>): (t: TestContext) => Promise<void> {
  return async (t) => {
    const url = await server.createDatabase()
    await onFreshStores(openIn({ url }))(body)(t)
  }
}

async function cutEverySession(url: string): Promise<void> {
  const admin = await connectAdmin(url)
  await admin.query(
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
      WHERE application_name LIKE 'punctual %'`,
  )
  await admin.end()
}

/** Repeats a submission with the same id until it is answered, as a node does. */
async function submitUntilAcknowledged(world: StoreWorld, run: NewRun): Promise<void> {
  await waitFor(
    async () => {
      try {
        const [verdict] = await world.submit(run)
        assert.ok(verdict?.kind === 'inserted' || verdict?.kind === 'exists')
        return true
      } catch (error) {
        assert.ok(error instanceof StoreError && error.outcome !== 'refused', String(error))
        return false
      }
    },
    { what: 'a submission to be acknowledged', deadlineMs: 60_000 },
  )
}

/**
 * Four callers that submit continuously while `trouble` happens; then checks what was acknowledged.
 */
async function underLoad(world: StoreWorld, trouble: () => Promise<void>): Promise<void> {
  const acknowledged: number[] = []
  let isOver = false
  const callers = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      const run = world.newRun()
      await submitUntilAcknowledged(world, run)
      acknowledged.push(run.id)
    }
  })
  await waitFor(() => acknowledged.length > 20, { what: 'some load' })
  await trouble()
  const soFar = acknowledged.length
  await waitFor(() => acknowledged.length > soFar + 20, {
    what: 'work to go on',
    deadlineMs: 60_000,
  })
  isOver = true
  await Promise.all(callers)
  const runs = await waitFor(() => world.list(), { what: 'the reading connection to come back' })
  const stored = runs.map(({ id }) => id)
  assert.deepEqual(
    sortedNumbers(stored),
    sortedNumbers(acknowledged),
    'each acknowledged run, once',
  )
  const claimed = (await world.claim(acknowledged.length)).map(({ runId }) => runId)
  assert.equal(new Set(claimed).size, acknowledged.length)
}

test(
  'sessions ended by the server come back, and nothing acknowledged is lost',
  inWorld((world) =>
    underLoad(world, async () => {
      for (let round = 0; round < 3; round += 1) await cutEverySession(server.url)
    }),
  ),
)

for (const mode of ['fast', 'immediate'] satisfies StopMode[]) {
  test(
    `a restart of the server (${mode}) is a temporary outage`,
    inWorld((world) => underLoad(world, () => server.restart(mode))),
  )
}

test(
  'every operation fails at once while the database is down, and works when it is back',
  inWorld(async (world) => {
    await world.store.ping()
    const gone = server.restart('immediate')
    const operations: readonly (() => Promise<unknown>)[] = [
      () => world.submit(world.newRun()),
      () => world.store.ping(),
      () => world.store.promote({ positions: [world.mint()] }),
      () => world.store.heartbeat({ node: world.node, ttlMs: 30_000, idMark: 0 }),
      () => world.store.liveCounts(),
      () => world.store.internProjects([`p${world.mint()}`]),
    ]
    for (const operation of operations) {
      await operation().catch((error: unknown) => {
        assert.ok(error instanceof StoreError, String(error))
        assert.notEqual(error.outcome, 'refused')
      })
    }
    await gone
    for (const operation of operations) {
      await waitFor(
        () =>
          operation().then(
            () => true,
            () => false,
          ),
        { what: 'the operation to work again' },
      )
    }
  }),
)

test('an address without a server is unavailable from the start', async () => {
  await assert.rejects(openPostgresStore({ url: 'postgres://postgres@127.0.0.1:1/none' }), {
    name: 'StoreError',
    outcome: 'unavailable',
  })
})

test('a closed store says so and leaves no server session behind', async () => {
  const url = await server.createDatabase()
  const store = await openPostgresStore({ url })
  await store.close()
  await assert.rejects(store.ping(), { outcome: 'unavailable' })
  const admin = await connectAdmin(url)
  const count = `SELECT count(*)::int AS n FROM pg_stat_activity
                  WHERE datname = current_database() AND application_name LIKE 'punctual %'`
  await waitFor(async () => (await admin.query(count)).rows[0].n === 0, { what: 'sessions to end' })
  await admin.end()
})

test('the settings that durability rests on are checked', async () => {
  const admin = await connectAdmin(server.url)
  await admin.query(`ALTER SYSTEM SET full_page_writes = off`)
  await admin.query(`SELECT pg_reload_conf()`)
  const setting = async () => (await admin.query(`SHOW full_page_writes`)).rows[0].full_page_writes
  await waitFor(async () => (await setting()) === 'off', { what: 'the setting' })
  const warnings: string[] = []
  const store = await openPostgresStore({
    url: await server.createDatabase(),
    onWarn: (message) => warnings.push(message),
  })
  assert.match(store.version, /^PostgreSQL \d+\.\d+$/)
  await store.close()
  await admin.query(`ALTER SYSTEM RESET full_page_writes`)
  await admin.query(`SELECT pg_reload_conf()`)
  await admin.end()
  assert.equal(warnings.length, 1)
  assert.match(warnings[0]!, /full_page_writes is off/)
})
