import { openScheduler } from '../../src/main/scheduler.ts'
import { measureAndExit, readVariantSettings, verify } from '../harness/variant-process.ts'
import { copyRunsPostgres, copyRunsSqlite } from '../load/copy-runs.ts'
import { countRuns, countSucceeded } from '../systems/punctual-store.ts'
import { waitUntilAcknowledged, BENCH_JOB, startWorker } from '../systems/punctual-worker.ts'

export interface PreloadSettings {
  readonly store: string
  readonly finished: number
  readonly future: number
}

const FUTURE_DELAY_MS = 30 * 86_400_000

/**
 * Fills a store with many ended and many future runs: Punctual executes one run and schedules another,
 * then SQL copies their rows. The rows are therefore the ones Punctual writes, whatever the schema.
 */
measureAndExit(async () => {
  const { store, finished, future } = readVariantSettings() as PreloadSettings
  const scheduler = await openScheduler({ store, onError: (error) => console.error(error) })
  const client = scheduler.clientFor('default')
  const handled = Promise.withResolvers<void>()
  const worker = await startWorker(client, 'latency', () => handled.resolve())
  await client.submit([{ job: BENCH_JOB }, { job: BENCH_JOB, runAt: Date.now() + FUTURE_DELAY_MS }])
  await handled.promise
  await waitUntilAcknowledged(worker)
  await worker.drain(0)
  await scheduler.stop()

  const counts = { finished: finished - 1, future: future - 1 }
  if (store.startsWith('sqlite:')) copyRunsSqlite(store.slice('sqlite:'.length), counts)
  else await copyRunsPostgres(store, counts)

  verify('finished runs', finished, await countSucceeded(store))
  verify('runs', finished + future, await countRuns(store))
  return { finished, future }
})
