import { statementTime } from '../../core/trusted-clock.ts'
import { StoreError, type Store } from '../port.ts'
import { Connection } from './connection/connection.ts'
import type { Database } from './database/database.ts'
import type { ConnectionRole, ServerFacts } from './connection/set-up-connection.ts'
import { migrate } from './migrations/migrate.ts'
import { createHealth, type PostgresHealth } from './health/health.ts'
import type { StatementClock } from './connection/statement.ts'
import { createOperations } from './operations/operations.ts'
import { PartitionRegistry } from './partitions/partition-registry.ts'

export interface PostgresOptions {
  readonly url: string
  /** Only for tests: replaces the database's clock. */
  readonly now?: () => number
  readonly schema?: string
  /** The store cannot continue: the address leads to another database than before. */
  readonly onFatal?: (error: Error) => void
  readonly onWarn?: (message: string) => void
}

const ROLES: readonly ConnectionRole[] = ['hot', 'hot', 'duty', 'reading', 'lists', 'lists']

/** Opens the store and brings its schema up to date. Any number of nodes may do so at once. */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const { url, schema = 'punctual', onWarn = () => {} } = options
  const watch = watchIdentity(options)
  const health = createHealth(url)
  const connections: Connection[] = []
  try {
    for (const role of ROLES) {
      // One warning per start is enough; the connections all see the same settings.
      const warn = role === 'duty' ? onWarn : () => {}
      connections.push(
        await Connection.open({
          url,
          role,
          schema,
          onWarn: warn,
          onConnectionSetUp: watch.setUpConnection,
          onStoreTrouble: health.note,
        }),
      )
    }
    const of = (role: ConnectionRole) => connections.filter((_, index) => ROLES[index] === role)
    const duty = of('duty')[0] as Connection
    const reading = of('reading')[0] as Connection
    const testWall = () => options.now?.() ?? null
    const clock = createStatementClock(testWall)
    await migrate(duty, { schema, nowMs: testWall() })
    const weeks = new PartitionRegistry(duty)
    const [hot, lists] = [of('hot'), of('lists')]
    const { now } = clock
    const db: Database = { hot, duty, reading, lists, weeks, now, testWall, onWarn }
    // No node has checked the clock yet: the weeks ahead are created when one has, and the weeks of
    // new runs with the runs.
    await weeks.refresh()
    const facts = { version: watch.version(), health }
    return { ...createStore(db, facts, connections), expectClock: clock.expect }
  } catch (error) {
    await Promise.all(connections.map((connection) => connection.close()))
    throw error
  }
}

/**
 * The time for statements: the database's clock, bounded by what the node expects once it has
 * announced that.
 */
function createStatementClock(testWall: () => number | null): {
  now(): StatementClock
  expect(expected: () => number): void
} {
  let expected: (() => number) | null = null
  return {
    now() {
      const wall = testWall()
      if (wall !== null) return statementTime(wall, expected?.() ?? null)
      return expected && -expected()
    },
    expect(given) {
      expected = given
    },
  }
}

function createStore(
  db: Database,
  { version, health }: { version: string; health: PostgresHealth },
  connections: readonly Connection[],
): Omit<Store, 'expectClock'> {
  return {
    kind: 'postgres',
    version,
    location: health.place,
    ticksInFlight: db.hot.length,
    tickCap: 500,
    ...createOperations(db, health),
    close: async () => {
      await Promise.all(connections.map((connection) => connection.close()))
    },
  }
}

/** An address that suddenly leads to another cluster is not an outage that ends by itself. */
function watchIdentity({ onFatal = () => {}, onWarn = () => {} }: PostgresOptions) {
  let known: ServerFacts | undefined
  let hasFailed = false
  return {
    version: () => known?.version ?? 'PostgreSQL',
    setUpConnection: (facts: ServerFacts) => {
      const before = known
      if (
        before?.systemId != null &&
        facts.systemId !== null &&
        before.systemId !== facts.systemId
      ) {
        const error = new StoreError('unavailable', 'the address leads to another database cluster')
        if (!hasFailed) onFatal(error)
        hasFailed = true
        throw error
      }
      if (before?.timeline != null && before.timeline !== facts.timeline) {
        onWarn('a standby took over; what it had not received yet is lost')
      }
      known = facts
    },
  }
}
