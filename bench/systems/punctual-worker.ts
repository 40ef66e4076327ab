import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SchedulerClient, Submission } from '../../src/core/wire/protocol.ts'
import { createWorker, type Worker } from '../../src/worker/index.ts'
import type { WORKER_OFFER } from './run-shapes.ts'
import type { Purpose } from './system.ts'

export const BENCH_JOB = 'noop'
const SUBMISSION: Submission = { job: BENCH_JOB }

/** Enough slots that the load never waits for the worker. */
const SLOTS: Record<Purpose, number> = { throughput: 10_000, single: 1_000, latency: 100 }

export function noopSubmissions(count: number): Submission[] {
  return Array.from({ length: count }, () => SUBMISSION)
}

export async function startWorker(
  client: SchedulerClient,
  purpose: Purpose,
  handler: (input: unknown) => void,
  { isQuiet = false, ...offer }: Partial<typeof WORKER_OFFER> & { isQuiet?: boolean } = {},
): Promise<Worker> {
  const worker = createWorker({
    client,
    name: 'bench',
    slots: SLOTS[purpose],
    handlers: { [BENCH_JOB]: handler },
    ...offer,
    onError: (error) => isQuiet || console.error(error),
  })
  await worker.start()
  return worker
}

/** The server acknowledges a report after its commit, so all ends are durable once none is unacknowledged. */
export async function waitUntilAcknowledged(worker: Worker): Promise<void> {
  for (;;) {
    const { running, unacknowledged } = worker.stats()
    if (running === 0 && unacknowledged === 0) return
    await nextTurn()
  }
}
