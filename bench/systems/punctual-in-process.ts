import { openScheduler } from '../../src/main/scheduler.ts'
import type { Worker } from '../../src/worker/index.ts'
import { countRuns, countSucceeded } from './punctual-store.ts'
import { waitUntilAcknowledged, BENCH_JOB, startWorker } from './punctual-worker.ts'
import { WORKER_OFFER, createSubmissions, type RunShape } from './run-shapes.ts'
import type { Purpose, System } from './system.ts'

const DRAIN_MS = 5_000

/** Scheduler, submitter and worker in one process, as `punctual up` wires them. */
export async function openPunctualInProcess(
  store: string,
  purpose: Purpose,
  shape: RunShape,
): Promise<System> {
  const submissions = createSubmissions(BENCH_JOB, shape)
  const onError = (error: unknown) => console.error(error)
  const scheduler = await openScheduler({ store, onError })
  const client = scheduler.clientFor('default')
  let worker: Worker | undefined

  return {
    async work(handler) {
      const offer = shape === 'placed' ? WORKER_OFFER : {}
      worker = await startWorker(client, purpose, handler, offer)
    },
    submitMany: (count) => client.submit(submissions(count)),
    submitOne: () => client.submit(submissions(1)),
    settled: () => waitUntilAcknowledged(worker!),
    async close() {
      await worker?.drain(DRAIN_MS)
      await scheduler.stop()
    },
    countEnded: () => countSucceeded(store),
    countSubmitted: () => countRuns(store),
  }
}
