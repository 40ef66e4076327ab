import { openScheduler } from '../../src/main/scheduler.ts'
import { measure, readSettings, verify } from '../harness/variant-process.ts'
import { multiplyPostgres, multiplySqlite } from '../load/copy-runs.ts'
import { countRuns, countSucceeded } from '../systems/punctual-store.ts'
import { acknowledged, JOB, startWorker } from '../systems/punctual-worker.ts'

export interface PreloadSettings {
  readonly store: string
  readonly finished: number
  readonly future: number
}

const FAR_MS = 30 * 86_400_000

/**
 * Makes a store with a long past and a long future: Punctual itself runs one run and schedules
 * another, then SQL copies their rows. So the rows are what the product writes, whatever its schema.
 */
measure(async () => {
  const { store, finished, future } = readSettings() as PreloadSettings
  const scheduler = await openScheduler({ store, onError: (error) => console.error(error) })
  const client = scheduler.clientFor('default')
  const handled = Promise.withResolvers<void>()
  const worker = await startWorker(client, 'latency', () => handled.resolve())
  await client.submit([{ job: JOB }, { job: JOB, runAt: Date.now() + FAR_MS }])
  await handled.promise
  await acknowledged(worker)
  await worker.drain(0)
  await scheduler.stop()

  const counts = { finished: finished - 1, future: future - 1 }
  if (store.startsWith('sqlite:')) multiplySqlite(store.slice('sqlite:'.length), counts)
  else await multiplyPostgres(store, counts)

  verify('finished runs', finished, await countSucceeded(store))
  verify('runs', finished + future, await countRuns(store))
  return { finished, future }
})
