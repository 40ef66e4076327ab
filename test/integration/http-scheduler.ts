import { type Client, connect } from '../../src/client/index.ts'
import { openScheduler } from '../../src/main/scheduler.ts'
import { askWhy } from '../support/fetch-why.ts'
import { LONG_TIMEOUTS } from '../support/long-timeouts.ts'
import type { SchedulerAccess } from './fair-share.ts'

const TOKEN = `punctual_root_${'x'.repeat(40)}`

/** A scheduler on this store, accessed only over HTTP. */
export async function openSchedulerAccess(
  store: string,
): Promise<SchedulerAccess & { close(): Promise<void> }> {
  const scheduler = await openScheduler({ store, rootToken: TOKEN, config: LONG_TIMEOUTS })
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
