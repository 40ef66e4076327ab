import type { TestContext } from 'node:test'
import { waitFor } from '../../../test/support/wait-for.ts'
import type { OutputEntry } from '../../core/run/output.ts'
import type { Assignment, FinishedAttempt } from '../../core/wire/protocol.ts'
import type { Work } from '../../core/work/work.ts'
import type { WorkerOptions } from '../sessions/worker-options.ts'
import { systemClock } from '../clock/system-clock.ts'
import { createWorker } from '../worker.ts'
import { createFakeScheduler, LONG_LEASE } from './fake-scheduler.ts'

/** A worker on real time that runs the given work, and the reports of its attempts. */
export async function openRealTimeWorker(t: TestContext, options: Partial<WorkerOptions>) {
  const scheduler = createFakeScheduler(systemClock, LONG_LEASE)
  const errors: unknown[] = []
  const worker = createWorker({
    client: scheduler,
    name: 'w',
    slots: 8,
    ...options,
    onError: (error) => errors.push(error),
  })
  t.after(() => worker.drain(0))
  await worker.start()
  const ended = (run: string): Promise<FinishedAttempt> =>
    waitFor(() => scheduler.ended.get(run)?.[0], { what: `${run} to end`, deadlineMs: 60_000 })
  const textOf = (run: string, stream: 0 | 1 | 2 = 1) => {
    const last = scheduler.ended.get(run)?.[0]?.process?.output?.last ?? []
    return [...scheduler.chunksOf(run).flat(), ...last]
      .filter((entry: OutputEntry) => entry[1] === stream)
      .map(([, , text]) => text)
      .join('')
  }
  const perform = (
    run: string,
    work: Work,
    extra: Partial<Assignment> = {},
  ): Promise<FinishedAttempt> => {
    scheduler.submit(run, { work, ...extra })
    return ended(run)
  }
  return { scheduler, worker, errors, ended, textOf, perform }
}
