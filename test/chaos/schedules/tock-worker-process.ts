// A worker whose handler only records when it started, by the machine's clock, which is also the store's.
import { openSync, writeSync } from 'node:fs'
import { connect } from '../../../src/client/index.ts'
import { parsePublicId } from '../../../src/core/ids.ts'
import { createWorker } from '../../../src/worker/index.ts'
import { announce, endWithParent } from '../child-side.ts'

export interface TockSettings {
  readonly name: string
  readonly job: string
  readonly urls: readonly string[]
  readonly token: string
  /** File to append to: one line with the run and the time for each start. */
  readonly startsPath: string
}

const SLOTS = 300
const DRAIN_MS = 3_000
const settings = JSON.parse(process.argv[2] ?? '{}') as TockSettings
const { name, job, urls, token, startsPath } = settings
endWithParent()
const starts = openSync(startsPath, 'a')
const worker = createWorker({
  client: connect({ url: urls, token }),
  name,
  slots: SLOTS,
  handlers: {
    [job](_input, { runId }) {
      writeSync(starts, `${parsePublicId('run', runId)} ${Date.now()}\n`)
    },
  },
  onError: (error) => console.error(new Date().toISOString(), error),
})
process.once('SIGTERM', () => {
  void worker.drain(DRAIN_MS).finally(() => process.exit(0))
})
await worker.start()
announce()
