import type { TestContext } from 'node:test'
import type { OutputEntry } from '../../core/run/output.ts'
import type { FinishedAttempt } from '../../core/wire/protocol.ts'
import type { Work } from '../../core/work/work.ts'
import { waitFor } from '../../../test/support/wait-for.ts'
import type { ProcessOptions } from '../executors/process/processes.ts'
import { systemClock } from '../clock/system-clock.ts'
import { createWorker } from '../worker.ts'
import { createFakeScheduler, LONG_LEASE } from './fake-scheduler.ts'

export const sh = (run: string, more: Partial<Work> = {}): Work =>
  ({ executor: 'shell', run, ...more }) as Work

/** A worker for processes, with a real launcher and a server in memory. */
export async function openProcessWorker(
  t: TestContext,
  options: ProcessOptions = {},
  times = LONG_LEASE,
) {
  const scheduler = createFakeScheduler(systemClock, times)
  const errors: unknown[] = []
  const worker = createWorker({
    client: scheduler,
    name: 'w',
    slots: 8,
    processes: { launchers: 1, ...options },
    onError: (error) => errors.push(error),
  })
  t.after(() => worker.drain(0))
  await worker.start()
  /** Runs work to its end and returns the report. */
  const perform = async (run: string, work: Work, extra: object = {}): Promise<FinishedAttempt> => {
    scheduler.submit(run, { work, ...extra })
    return waitFor(() => scheduler.ended.get(run)?.[0], { what: `${run} to end` })
  }
  const textOf = (run: string, stream = 1) => {
    const last = scheduler.ended.get(run)?.[0]?.process?.output?.last ?? []
    return [...scheduler.chunksOf(run).flat(), ...last]
      .filter((entry: OutputEntry) => entry[1] === stream)
      .map(([, , text]) => text)
      .join('')
  }
  return { scheduler, worker, perform, textOf, errors }
}
