import { randomBytes } from 'node:crypto'
import type { NodeConfig } from '../../src/server/cluster/config.ts'
import { openScheduler } from '../../src/main/scheduler.ts'
import { onWords, readSettings, say } from '../harness/variant-process.ts'

export interface ServerSettings {
  readonly store: string
  readonly config?: Partial<NodeConfig>
  readonly token?: string
  /** Where the database is about to go away, complaints about that are no news. */
  readonly isQuiet?: boolean
}

/** A server node of its own, as `npm start` would run it, on a free loopback port. */
const settings = readSettings() as ServerSettings
const { store, config, isQuiet, token = randomBytes(32).toString('base64url') } = settings
const scheduler = await openScheduler({
  store,
  rootToken: token,
  ...(config && { config }),
  onError: (error) => isQuiet || console.error(error),
  onFatal: (error) => {
    console.error(error)
    process.exit(1)
  },
})
const url = await scheduler.listen({ host: '127.0.0.1', port: 0 })
say('ready', { url, token })

onWords(
  (word) => {
    if (word !== 'usage') return
    const { user, system } = process.cpuUsage()
    say('usage', { cpuMs: (user + system) / 1000 })
  },
  () => {
    scheduler.stop().then(
      () => process.exit(0),
      () => process.exit(1),
    )
  },
)
