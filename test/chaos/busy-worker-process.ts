// A worker whose handler blocks its thread: no other code of that thread runs.
import { connect } from '../../src/client/index.ts'
import { createWorker } from '../../src/worker/index.ts'
import { announce, endWithParent } from './child-side.ts'

const { url, token } = JSON.parse(process.argv[2] ?? '{}') as { url: string; token: string }
endWithParent()
const worker = createWorker({
  client: connect({ url, token }),
  name: 'busy',
  slots: 1,
  handlers: {
    compute(input) {
      const until = performance.now() + (input as { busyMs: number }).busyMs
      let rounds = 0
      while (performance.now() < until) rounds += 1
      return { rounds }
    },
  },
  onError: (error) => console.error(error),
})
await worker.start()
announce()
