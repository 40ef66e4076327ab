import { randomBytes } from 'node:crypto'
import type { NodeConfig } from '../../src/server/cluster/config.ts'
import { openScheduler } from '../../src/main/scheduler.ts'
import { onCommands, readVariantSettings, sendMessage } from '../harness/variant-process.ts'
import { watchLoop } from '../load/loop-delay.ts'

export interface BenchServerSettings {
  readonly store: string
  readonly config?: Partial<NodeConfig>
  readonly token?: string
  /** Suppresses error output in scenarios that stop the database. */
  readonly isQuiet?: boolean
  /** Measures how long the event loop is blocked. */
  readonly watchesLoop?: boolean
}

/** Runs a server node as `npm start` does, on a free loopback port. */
const settings = readVariantSettings() as BenchServerSettings
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
const loop = settings.watchesLoop ? watchLoop() : undefined
const url = await scheduler.listen({ host: '127.0.0.1', port: 0 })
sendMessage('ready', { url, token })

onCommands(
  (command) => {
    if (command === 'loop' && loop) sendMessage('loop', loop.read())
    if (command !== 'usage') return
    const { user, system } = process.cpuUsage()
    sendMessage('usage', { cpuMs: (user + system) / 1000 })
  },
  () => {
    scheduler.stop().then(
      () => process.exit(0),
      () => process.exit(1),
    )
  },
)
