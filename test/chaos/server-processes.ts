import { freePort } from '../support/free-port.ts'
import { type ProcessGroup, chaosProcess, type ProcessRole } from './processes.ts'
import type { ChaosDatabase } from './databases.ts'
import type { ServerSettings } from './server-process.ts'

export const CHAOS_TOKEN = 'chaos-token-that-is-long-enough-to-be-one'

export interface ServerProcesses {
  readonly servers: readonly ProcessRole[]
  /** Their addresses, in the same order; a restarted server keeps its address. */
  readonly urls: readonly string[]
}

/** Defines `count` servers on one database without starting them. */
export async function defineServers(
  processes: ProcessGroup,
  count: number,
  database: ChaosDatabase,
): Promise<ServerProcesses> {
  const ports: number[] = []
  for (let index = 0; index < count; index += 1) ports.push(await freePort())
  const servers = ports.map((port, index) =>
    processes.role(`server-${index + 1}`, (name) => {
      const settings: ServerSettings = { name, store: database.storeUrl, port, token: CHAOS_TOKEN }
      return chaosProcess('server-process.ts', settings)
    }),
  )
  return { servers, urls: ports.map((port) => `http://127.0.0.1:${port}`) }
}

/** The first start creates the schema, which `recordEnds` needs, and shows that a server stops in order. */
export async function startServers(
  servers: readonly ProcessRole[],
  database: ChaosDatabase,
): Promise<void> {
  const [first] = servers as readonly [ProcessRole]
  await first.start()
  await first.current().stop()
  await database.recordEnds()
  await Promise.all(servers.map((role) => role.start()))
}
