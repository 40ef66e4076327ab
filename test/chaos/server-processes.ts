import { freePort } from '../support/free-port.ts'
import { type Cast, chaosProcess, type Role } from './processes.ts'
import type { Database } from './databases.ts'
import type { ServerSettings } from './server-process.ts'

export const TOKEN = 'chaos-token-that-is-long-enough-to-be-one'

export interface CastServers {
  readonly servers: readonly Role[]
  /** Where they listen, in the same order, whoever has the place. */
  readonly urls: readonly string[]
}

/** Places for so many servers of one database. */
export async function castServers(
  cast: Cast,
  count: number,
  database: Database,
): Promise<CastServers> {
  const ports: number[] = []
  for (let index = 0; index < count; index += 1) ports.push(await freePort())
  const servers = ports.map((port, index) =>
    cast.role(`server-${index + 1}`, (name) => {
      const settings: ServerSettings = { name, store: database.storeUrl, port, token: TOKEN }
      return chaosProcess('server-process.ts', settings)
    }),
  )
  return { servers, urls: ports.map((port) => `http://127.0.0.1:${port}`) }
}

/** The first start makes the schema, which the witness needs; and proves an orderly stop. */
export async function raiseServers(servers: readonly Role[], database: Database): Promise<void> {
  const [first] = servers as readonly [Role]
  await first.start()
  await first.current().stop()
  await database.witness()
  await Promise.all(servers.map((role) => role.start()))
}
