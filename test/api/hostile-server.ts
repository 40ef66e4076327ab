// A server in its own process, so that attacks do not hit the test itself, with limits short enough for a test.
import { openScheduler } from '../../src/main/scheduler.ts'
import { endWithParent } from '../chaos/child-side.ts'
import { ROOT_TOKEN } from './open-api.ts'

const CONNECTIONS = {
  headersMs: 1_500,
  requestMs: 2_000,
  checkMs: 200,
  stalledMs: 2_500,
  keepAliveMs: 3_000,
}

endWithParent()
const scheduler = await openScheduler({
  store: `sqlite:${process.argv[2]}`,
  rootToken: ROOT_TOKEN,
  onError: (error) => console.error(error),
})
const url = await scheduler.listen({ host: '127.0.0.1', port: 0, connections: CONNECTIONS })
process.once('SIGTERM', () => {
  void scheduler.stop().finally(() => process.exit(0))
})
console.log(JSON.stringify({ url }))
