import type { AttemptFactory } from '../attempts/running-attempt.ts'
import { type Executors, openExecutors } from '../executors/executors.ts'
import { HandlerAttempt } from '../executors/handler/handler-attempt.ts'
import { type HeartbeatThread, startHeartbeatThread } from '../heartbeat/heartbeat-thread.ts'
import type { OutputBuffer } from '../output/output-buffer.ts'
import type { WorkerSettings } from './worker-options.ts'

/** What a session runs work with: its executors, and the thread that keeps its lease while busy. */
export interface SessionExecutors extends AttemptFactory {
  /**
   * Starts everything; resolves once the worker can run something. When `signal` has aborted by
   * then, closes it again.
   */
  open(signal: AbortSignal): Promise<void>
  /** What to offer in the next registration. */
  offer(): WorkerSettings['offer'] & Partial<Executors['advertised']>
  /** More executors are available than the last registration offered. */
  hasMoreToOffer(): boolean
  readonly outputBuffer: OutputBuffer | undefined
  readonly heartbeatThread: HeartbeatThread | undefined
  /** Extends the time that processes and the heartbeat thread may go on. */
  renew(leftMs: number): void
  /** Ends what still runs; resolves when it is gone. */
  close(): Promise<void>
}

export function createSessionExecutors(
  settings: WorkerSettings,
  onOffer: () => void,
): SessionExecutors {
  const { client, clock, reporter } = settings
  let executors: Executors | undefined
  let heartbeatThread: HeartbeatThread | undefined
  let hasMoreToOffer = false

  const offered = (): readonly string[] => {
    const { executors: names } = settings.offer
    return executors?.offered(names) ?? names
  }

  return {
    async open(signal) {
      if (settings.executors) {
        executors = await openExecutors(settings.executors, {
          clock,
          onError: reporter.error,
          onLeftovers: (processes) => reporter.log('leftovers ended', { processes }),
          onRemoved: (container) => reporter.log('container removed late', { container }),
          onOffer() {
            hasMoreToOffer = true
            onOffer()
          },
        })
        // The worker was asked to stop before there was anything to close.
        if (signal.aborted) await executors.close()
        // A worker that cannot run anything yet does not register.
        if (offered().length === 0) await executors.complete
      }
      if (client.heartbeatPost) {
        const { lifeline } = executors ?? {}
        heartbeatThread = startHeartbeatThread({ lifeline, onError: reporter.error })
      }
    },
    begin(assignment, hooks) {
      const { work, task, job } = assignment
      const handler = work ? undefined : settings.handlers.get(task ?? job)
      // Work that this worker cannot run becomes an attempt that fails with that message.
      return (
        (work && executors?.begin(assignment, work, hooks)) ??
        new HandlerAttempt(assignment, handler, hooks)
      )
    },
    offer() {
      hasMoreToOffer = false
      return { ...settings.offer, ...executors?.advertised, executors: offered() }
    },
    hasMoreToOffer: () => hasMoreToOffer,
    get outputBuffer() {
      return executors?.outputBuffer
    },
    get heartbeatThread() {
      return heartbeatThread
    },
    renew(leftMs) {
      executors?.renew(leftMs)
      heartbeatThread?.renew(leftMs)
    },
    async close() {
      heartbeatThread?.close()
      await executors?.close()
    },
  }
}
