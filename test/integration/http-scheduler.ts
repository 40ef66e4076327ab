import { type Client, connect } from '../../src/client/index.ts'
import { openScheduler } from '../../src/main/scheduler.ts'
import { askWhy } from '../support/fetch-why.ts'
import { PATIENT } from '../support/long-timeouts.ts'
import type { Reach } from './fair-share.ts'

const TOKEN = `punctual_root_${'x'.repeat(40)}`

/** A scheduler of its own on this store, and everything said to it over HTTP. */
export async function reachOver(store: string): Promise<Reach & { close(): Promise<void> }> {
  const scheduler = await openScheduler({ store, rootToken: TOKEN, config: PATIENT })
  const url = await scheduler.listen({ host: '127.0.0.1', port: 0 })
  const clients = new Map<string, Client>()
  return {
    clientFor(project) {
      const client = clients.get(project) ?? connect({ url, token: TOKEN, project })
      clients.set(project, client)
      return client
    },
    why: (project, run) => askWhy(url, { token: TOKEN, project }, run),
    async close() {
      for (const client of clients.values()) await client.close()
      await scheduler.stop()
    },
  }
}
