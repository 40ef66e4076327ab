import { connect } from '../../src/client/index.ts'
import { createWorker } from '../../src/worker/index.ts'
import { onWords, readSettings, say } from '../harness/variant-process.ts'

export interface RecoveryWorkerSettings {
  readonly name: string
  readonly urls: readonly string[]
  readonly token: string
  /** One session for each of these. */
  readonly queues: readonly string[]
}

/** A worker process to be killed or orphaned: it tells what it starts, and holds on to `hold`. */
const { name, urls, token, queues } = readSettings() as RecoveryWorkerSettings
const released = Promise.withResolvers<void>()

await Promise.all(
  queues.map(async (queue) => {
    const worker = createWorker({
      client: connect({ url: urls, token }),
      name,
      queues: [queue],
      slots: 4,
      handlers: {
        touch: (_, { runId, attempt }) => say('started', { run: runId, attempt, queue }),
        hold: async (_, { runId, attempt }) => {
          say('started', { run: runId, attempt, queue })
          await released.promise
        },
      },
      // Losing a server is the point of the exercise.
      onError: () => {},
    })
    await worker.start()
  }),
)
say('ready')

onWords(
  (word) => {
    if (word === 'release') released.resolve()
  },
  () => process.exit(0),
)
