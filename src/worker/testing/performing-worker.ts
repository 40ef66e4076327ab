import type { TestContext } from 'node:test'
import { waitFor } from '../../../test/support/wait-for.ts'
import type { Entry } from '../../core/run/output.ts'
import type { Assignment, Done } from '../../core/wire/protocol.ts'
import type { Work } from '../../core/work/work.ts'
import type { WorkerOptions } from '../sessions/worker-options.ts'
import { systemClock } from '../clock/system-clock.ts'
import { createWorker } from '../worker.ts'
import { createFakeScheduler, UNHURRIED } from './fake-scheduler.ts'

/** A worker on real time that does what it is given, and what became of that. */
export async function openPerformer(t: TestContext, options: Partial<WorkerOptions>) {
  const scheduler = createFakeScheduler(systemClock, UNHURRIED)
  const errors: unknown[] = []
  const worker = createWorker({
    ...{ client: scheduler, name: 'w', slots: 8 },
    ...options,
    onError: (error) => errors.push(error),
  })
  t.after(() => worker.drain(0))
  await worker.start()
  const ended = (run: string): Promise<Done> =>
    waitFor(() => scheduler.ended.get(run)?.[0], { what: `${run} to end`, deadlineMs: 60_000 })
  const textOf = (run: string, stream: 0 | 1 | 2 = 1) => {
    const last = scheduler.ended.get(run)?.[0]?.process?.output?.last ?? []
    return [...scheduler.chunksOf(run).flat(), ...last]
      .filter((entry: Entry) => entry[1] === stream)
      .map(([, , text]) => text)
      .join('')
  }
  const perform = (run: string, work: Work, extra: Partial<Assignment> = {}): Promise<Done> => {
    scheduler.submit(run, { work, ...extra })
    return ended(run)
  }
  return { scheduler, worker, errors, ended, textOf, perform }
}
