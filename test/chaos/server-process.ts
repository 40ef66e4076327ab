// One server node in its own process, with times short enough for a test.
import { openScheduler } from '../../src/main/scheduler.ts'
import { announce, endWithParent } from './child-side.ts'
import { clockSetBy } from './settable-clock.ts'
import { SHORT_TIMES } from './short-times.ts'

export interface ServerSettings {
  readonly name: string
  readonly store: string
  readonly port: number
  readonly token: string
}

const { name, store, port, token } = JSON.parse(process.argv[2] ?? '{}') as ServerSettings
endWithParent()
const scheduler = await openScheduler({
  store,
  rootToken: token,
  config: { ...SHORT_TIMES, name },
  clock: clockSetBy(process.stdin),
  onError: (error) => console.error(new Date().toISOString(), error),
  onFatal(error) {
    console.error('fatal', error)
    process.exit(1)
  },
})
await scheduler.listen({ host: '127.0.0.1', port })
process.once('SIGTERM', () => {
  void scheduler.stop().finally(() => process.exit(0))
})
announce()
