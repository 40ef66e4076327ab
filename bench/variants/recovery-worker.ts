import { connect } from '../../src/client/index.ts'
import { createWorker } from '../../src/worker/index.ts'
import { onCommands, readVariantSettings, sendMessage } from '../harness/variant-process.ts'

export interface RecoveryWorkerSettings {
  readonly name: string
  readonly urls: readonly string[]
  readonly token: string
  /** The worker opens one session per queue. */
  readonly queues: readonly string[]
}

/** A worker process to be killed or orphaned: it reports each start, and `hold` runs until the command `release`. */
const { name, urls, token, queues } = readVariantSettings() as RecoveryWorkerSettings
const released = Promise.withResolvers<void>()

await Promise.all(
  queues.map(async (queue) => {
    const worker = createWorker({
      client: connect({ url: urls, token }),
      name,
      queues: [queue],
      slots: 4,
      handlers: {
        touch: (_, { runId, attempt }) => sendMessage('started', { run: runId, attempt, queue }),
        hold: async (_, { runId, attempt }) => {
          sendMessage('started', { run: runId, attempt, queue })
          await released.promise
        },
      },
      // The scenarios kill the server on purpose.
      onError: () => {},
    })
    await worker.start()
  }),
)
sendMessage('ready')

onCommands(
  (command) => {
    if (command === 'release') released.resolve()
  },
  () => process.exit(0),
)
