// One worker in its own process. Its handlers write each start and end to a file first.
import { openSync, writeSync } from 'node:fs'
import { connect } from '../../src/client/index.ts'
import { createWorker, type Handler } from '../../src/worker/index.ts'
import { systemClock } from '../../src/worker/clock/system-clock.ts'
import { announce, endWithParent } from './child-side.ts'
import { monotonicNs, truthLine, type TruthNote } from './history.ts'
import { WORKLOAD_JOBS, type HandlerInput } from './workload.ts'

export interface ChaosWorkerSettings {
  readonly name: string
  readonly urls: readonly string[]
  readonly token: string
  readonly slots: number
  /** The file of handler events; one line per write. */
  readonly truthPath: string
}

const DRAIN_MS = 3_000
const settings = JSON.parse(process.argv[2] ?? '{}') as ChaosWorkerSettings
endWithParent()
const truth = openSync(settings.truthPath, 'a')

const record = (note: Pick<TruthNote, 'run' | 'fence' | 'what' | 'outcome'>) =>
  writeSync(truth, truthLine({ ...note, atNs: monotonicNs() }))

const handler: Handler = async (input, { runId: run, fence, attempt, signal }) => {
  record({ run, fence, what: 'START', outcome: '-' })
  const { lastMs, failFirst } = input as HandlerInput
  await systemClock.sleep(lastMs, signal)
  const outcome = signal.aborted ? 'stopped' : attempt <= failFirst ? 'failed' : 'succeeded'
  record({ run, fence, what: 'END', outcome })
  if (outcome === 'stopped') throw signal.reason as Error
  if (outcome === 'failed') throw new Error('meant to fail')
  return { fence }
}

const client = connect({ url: settings.urls, token: settings.token })
const worker = createWorker({
  name: settings.name,
  slots: settings.slots,
  handlers: Object.fromEntries(WORKLOAD_JOBS.map((job) => [job, handler])),
  client: {
    ...client,
    async exchange(session, message, signal) {
      const answer = await client.exchange(session, message, signal)
      for (const [index, { run, fence, outcome }] of message.done.entries()) {
        const what = answer.verdicts[index] === 'accepted' ? 'ACCEPTED' : 'STALE'
        record({ run, fence, what, outcome })
      }
      return answer
    },
  },
  onError: (error) => console.error(new Date().toISOString(), error),
})
process.once('SIGTERM', () => {
  void worker.drain(DRAIN_MS).finally(() => process.exit(0))
})
await worker.start()
announce()
