import type { Clock } from '../../core/clock.ts'
import type { WorkerOptions } from '../sessions/worker-options.ts'
import { createWorker, type Worker } from '../worker.ts'
import type { AttemptStopped, HandlerContext, StopCause } from '../attempts/handler.ts'
import { createFakeScheduler, type FakeScheduler } from './fake-scheduler.ts'

export interface WorkerTestWorld {
  readonly server: FakeScheduler
  readonly worker: Worker
  readonly errors: unknown[]
  /** Running handler calls, by run: the test decides how each ends. */
  readonly calls: Map<string, HandlerCall>
  /** Why the handler of a run was asked to stop, if it was. */
  why(run: string): StopCause | undefined
}

export interface HandlerCall {
  readonly input: unknown
  readonly context: HandlerContext
  finish(result?: unknown): void
  fail(error: unknown): void
}

/** A worker, a server and a job named `job` whose handler runs until the test ends it. */
export function createWorkerTestWorld(
  clock: Clock,
  options: Partial<WorkerOptions> = {},
): WorkerTestWorld {
  const server = createFakeScheduler(clock)
  const errors: unknown[] = []
  const calls = new Map<string, HandlerCall>()
  const worker = createWorker({
    client: server,
    name: 'tester',
    clock,
    random: () => 0.5,
    onError: (error) => errors.push(error),
    ...options,
    handlers: {
      job: (input, context) =>
        new Promise((finish, fail) => {
          calls.set(context.runId, { input, context, finish, fail })
        }),
      polite: (_input, { signal }) =>
        new Promise((_, fail) => {
          signal.addEventListener('abort', () => fail(signal.reason as Error))
        }),
      ...options.handlers,
    },
  })
  const why = (run: string) => {
    const reason = calls.get(run)?.context.signal.reason as AttemptStopped | undefined
    return reason?.why
  }
  return { server, worker, errors, calls, why }
}
