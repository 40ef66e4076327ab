import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SchedulerClient, Submission } from '../../src/core/wire/protocol.ts'
import { createWorker, type Worker } from '../../src/worker/index.ts'
import type { ABLE } from './run-shapes.ts'
import type { Purpose } from './system.ts'

export const JOB = 'noop'
const SUBMISSION: Submission = { job: JOB }

/** Enough free slots that the worker is never what the loop waits for. */
const SLOTS: Record<Purpose, number> = { throughput: 10_000, single: 1_000, latency: 100 }

export function submissions(count: number): Submission[] {
  return Array.from({ length: count }, () => SUBMISSION)
}

export async function startWorker(
  client: SchedulerClient,
  purpose: Purpose,
  handler: (input: unknown) => void,
  { isQuiet = false, ...offer }: Partial<typeof ABLE> & { isQuiet?: boolean } = {},
): Promise<Worker> {
  const worker = createWorker({
    client,
    name: 'bench',
    slots: SLOTS[purpose],
    handlers: { [JOB]: handler },
    ...offer,
    onError: (error) => isQuiet || console.error(error),
  })
  await worker.start()
  return worker
}

/** The server answers a report after its commit, so nothing unacknowledged means all is durable. */
export async function acknowledged(worker: Worker): Promise<void> {
  for (;;) {
    const { running, unacknowledged } = worker.stats()
    if (running === 0 && unacknowledged === 0) return
    await nextTurn()
  }
}
