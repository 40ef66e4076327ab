import { systemClock } from '../../src/worker/clock/system-clock.ts'
import type { PostgresServer } from '../support/postgres-server.ts'
import { PAST_LEASE_TTL_MS, PAST_NODE_TTL_MS } from './faults.ts'
import { postgresOn, sqliteIn } from './databases.ts'
import { perform, type Plan, type Result, type Scene } from './scenario.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

const STALL_MS = 1_500
const OUTAGE_MS = 300

/** The only server of a SQLite file dies again and again; now and then a worker does, too. */
export function sqliteKills(plan: Plan): Promise<Result> {
  return perform(
    {
      servers: 1,
      workers: 2,
      database: async (dir) => sqliteIn(dir),
      async torment(scene) {
        for (let kills = 1; kills <= plan.faults; kills += 1) {
          disturbWorkers(scene, kills)
          await scene.nemesis.kill(scene.stage.servers[0]!)
          await scene.nemesis.settle()
          report(plan, 'kills', kills)
        }
      },
    },
    plan,
  )
}

/** One of two servers dies, or is frozen until the other has declared it dead. */
export function postgresKills(server: PostgresServer, plan: Plan): Promise<Result> {
  return perform(
    {
      servers: 2,
      workers: 2,
      database: () => postgresOn(server),
      async torment(scene) {
        const { stage, nemesis } = scene
        for (let faults = 1; faults <= plan.faults; faults += 1) {
          disturbWorkers(scene, faults)
          const role = stage.seeded.pick(stage.servers)
          if (faults % 10 === 5) await nemesis.freeze(role, PAST_NODE_TTL_MS)
          else await nemesis.kill(role)
          await nemesis.settle()
          report(plan, 'kills and freezes', faults)
        }
      },
    },
    plan,
  )
}

/** The database itself crashes and recovers from its log. */
export function postgresRestarts(server: PostgresServer, plan: Plan): Promise<Result> {
  return perform(
    {
      servers: 2,
      workers: 2,
      database: () => postgresOn(server),
      async torment({ stage, nemesis }) {
        for (let restarts = 1; restarts <= plan.faults; restarts += 1) {
          stage.note('database-down', 'postgres')
          await server.restart('immediate')
          stage.note('database-up', 'postgres')
          await nemesis.settle()
          report(plan, 'restarts', restarts)
        }
      },
    },
    plan,
  )
}

/** Commits whose answer is lost; in between, cuts anywhere and a wire that goes quiet. */
export async function postgresCuts(server: PostgresServer, plan: Plan): Promise<Result> {
  let proxy: TcpProxy | undefined
  try {
    return await perform(
      {
        servers: 2,
        workers: 2,
        database: () =>
          postgresOn(server, async (url) => {
            proxy = await startTcpProxy(url)
            return proxy.url
          }),
        async torment(scene) {
          for (let cuts = 1; cuts <= plan.faults; cuts += 1) {
            await cutOnce(scene, proxy!, cuts)
            report(plan, 'cuts', cuts)
          }
        },
      },
      plan,
    )
  } finally {
    await proxy?.close()
  }
}

async function cutOnce({ stage, nemesis }: Scene, proxy: TcpProxy, cuts: number): Promise<void> {
  // Every other time a transaction; otherwise whatever comes first, a node's beat included.
  const what = await proxy.cutAfterCommit((what) => cuts % 2 === 0 || what === 'COMMIT')
  stage.note('cut', `after ${what}`)
  if (cuts % 5 === 0) {
    await systemClock.sleep(stage.seeded.between(0, OUTAGE_MS))
    stage.note('cut', 'everything')
    proxy.cutAll()
  }
  if (cuts % 10 === 0) {
    stage.note('stalled', 'the wire')
    proxy.stall()
    await systemClock.sleep(STALL_MS)
    proxy.flow()
  }
  await nemesis.settle()
}

/** Beside the servers and less often: each of these costs the runs it held a lease. */
function disturbWorkers({ stage, nemesis }: Scene, round: number): void {
  const role = stage.seeded.pick(stage.workers)
  if (round % 7 === 3) nemesis.meanwhile(() => nemesis.kill(role))
  if (round % 10 === 8) nemesis.meanwhile(() => nemesis.freeze(role, PAST_LEASE_TTL_MS))
}

function report({ faults, say }: Plan, what: string, count: number): void {
  if (count % 25 === 0 || count === faults) say(`${count} of ${faults} ${what}`)
}
