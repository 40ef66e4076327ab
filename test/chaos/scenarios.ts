import { systemClock } from '../../src/worker/clock/system-clock.ts'
import type { PostgresServer } from '../support/postgres-server.ts'
import { PAST_LEASE_TTL_MS, PAST_NODE_TTL_MS } from './faults.ts'
import { postgresOn, sqliteIn } from './databases.ts'
import {
  runScenario,
  type ChaosPlan,
  type ScenarioResult,
  type ScenarioContext,
} from './scenario.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

const STALL_MS = 1_500
const OUTAGE_MS = 300

/** The only server of a SQLite file is killed repeatedly, and sometimes a worker too. */
export function sqliteKills(plan: ChaosPlan): Promise<ScenarioResult> {
  return runScenario(
    {
      servers: 1,
      workers: 2,
      database: async (dir) => sqliteIn(dir),
      async injectFaults(context) {
        for (let kills = 1; kills <= plan.faults; kills += 1) {
          disturbWorkers(context, kills)
          await context.injector.kill(context.environment.servers[0]!)
          await context.injector.settle()
          reportProgress(plan, 'kills', kills)
        }
      },
    },
    plan,
  )
}

/** One of two servers is killed, or frozen until the other declares it dead. */
export function postgresKills(server: PostgresServer, plan: ChaosPlan): Promise<ScenarioResult> {
  return runScenario(
    {
      servers: 2,
      workers: 2,
      database: () => postgresOn(server),
      async injectFaults(context) {
        const { environment, injector } = context
        for (let faults = 1; faults <= plan.faults; faults += 1) {
          disturbWorkers(context, faults)
          const role = environment.seeded.pick(environment.servers)
          if (faults % 10 === 5) await injector.freeze(role, PAST_NODE_TTL_MS)
          else await injector.kill(role)
          await injector.settle()
          reportProgress(plan, 'kills and freezes', faults)
        }
      },
    },
    plan,
  )
}

/** The database itself crashes and recovers from its log. */
export function postgresRestarts(server: PostgresServer, plan: ChaosPlan): Promise<ScenarioResult> {
  return runScenario(
    {
      servers: 2,
      workers: 2,
      database: () => postgresOn(server),
      async injectFaults({ environment, injector }) {
        for (let restarts = 1; restarts <= plan.faults; restarts += 1) {
          environment.note('database-down', 'postgres')
          await server.restart('immediate')
          environment.note('database-up', 'postgres')
          await injector.settle()
          reportProgress(plan, 'restarts', restarts)
        }
      },
    },
    plan,
  )
}

/** Commits whose answer is lost; between them, cuts of all connections and a stalled network. */
export async function postgresCuts(
  server: PostgresServer,
  plan: ChaosPlan,
): Promise<ScenarioResult> {
  let proxy: TcpProxy | undefined
  try {
    return await runScenario(
      {
        servers: 2,
        workers: 2,
        database: () =>
          postgresOn(server, async (url) => {
            proxy = await startTcpProxy(url)
            return proxy.url
          }),
        async injectFaults(context) {
          for (let cuts = 1; cuts <= plan.faults; cuts += 1) {
            await cutOnce(context, proxy!, cuts)
            reportProgress(plan, 'cuts', cuts)
          }
        },
      },
      plan,
    )
  } finally {
    await proxy?.close()
  }
}

async function cutOnce(
  { environment, injector }: ScenarioContext,
  proxy: TcpProxy,
  cuts: number,
): Promise<void> {
  // Every other time a transaction; otherwise whatever commits first, a node's heartbeat included.
  const what = await proxy.cutAfterCommit((what) => cuts % 2 === 0 || what === 'COMMIT')
  environment.note('cut', `after ${what}`)
  if (cuts % 5 === 0) {
    await systemClock.sleep(environment.seeded.between(0, OUTAGE_MS))
    environment.note('cut', 'everything')
    proxy.cutAll()
  }
  if (cuts % 10 === 0) {
    environment.note('stalled', 'the wire')
    proxy.stall()
    await systemClock.sleep(STALL_MS)
    proxy.resume()
  }
  await injector.settle()
}

/** Less often than the servers: each of these costs a lease for every run it holds. */
function disturbWorkers({ environment, injector }: ScenarioContext, round: number): void {
  const role = environment.seeded.pick(environment.workers)
  if (round % 7 === 3) injector.inBackground(() => injector.kill(role))
  if (round % 10 === 8) injector.inBackground(() => injector.freeze(role, PAST_LEASE_TTL_MS))
}

function reportProgress({ faults, report }: ChaosPlan, what: string, count: number): void {
  if (count % 25 === 0 || count === faults) report(`${count} of ${faults} ${what}`)
}
