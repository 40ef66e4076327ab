import type { Clock } from '../../core/clock.ts'
import type { WorkerClient } from '../../core/wire/protocol.ts'
import type { AttemptTable } from '../attempts/attempt-table.ts'
import type { WorkerReporter } from '../events/worker-reporter.ts'
import { SETTLE_GRACE_MS } from '../executors/handler/handler-attempt.ts'
import type { SessionLease } from '../heartbeat/lease.ts'
import { mustRegisterAgain } from '../requests/refusal.ts'
import { sendRequest } from '../requests/send-request.ts'
import type { Registrar } from './registrar.ts'
import type { SessionExecutors } from './session-executors.ts'

/** Time for the last reports and for unregistering, once nothing runs any more. */
const UNREGISTER_MS = 5_000

/**
 * `drained`: the worker was asked to stop. `handler_unresponsive`: a handler continued after it was
 * asked to stop, and only the end of the process can end it. `refused`: the server did not accept
 * the worker.
 */
export type StopReason = 'drained' | 'handler_unresponsive' | 'refused'

/** How a worker session comes to its end: at once, or after a drain. */
export interface Shutdown {
  /** Accepts no more runs, and closes once all have ended or after the grace. */
  drain(graceMs: number, reason: StopReason): void
  isDraining(): boolean
  /** Accepts no more runs and closes. */
  kill(): Promise<void>
  /** Gives back what still runs and unregisters. Further calls do nothing. */
  close(reason: StopReason): Promise<void>
  /** The attempt table may be empty now. */
  onChange(): void
  /** Resolves when the worker has stopped for good. */
  readonly stopped: Promise<StopReason>
}

export interface ShutdownDeps {
  readonly client: WorkerClient
  readonly clock: Clock
  readonly reporter: WorkerReporter
  readonly lease: SessionLease
  readonly executors: SessionExecutors
  readonly attemptTable: AttemptTable
  readonly registrar: Registrar
  /** Aborted when the session closes. */
  readonly closed: AbortController
  /** Ends the current registration, and whatever waits for the first one. */
  onClose(): void
}

export function createShutdown(deps: ShutdownDeps): Shutdown {
  const { clock, reporter, lease, executors, attemptTable, closed } = deps
  const stopped = Promise.withResolvers<StopReason>()
  const emptied = Promise.withResolvers<void>()
  const graceExpired = Promise.withResolvers<void>()
  let isDraining = false

  const windDown = async (reason: StopReason): Promise<void> => {
    await Promise.race([emptied.promise, graceExpired.promise])
    attemptTable.stopRunning('draining')
    await Promise.race([
      emptied.promise,
      clock.sleep(SETTLE_GRACE_MS + UNREGISTER_MS, closed.signal),
    ])
    await close(reason)
  }

  const close = async (reason: StopReason): Promise<void> => {
    if (closed.signal.aborted) return
    closed.abort()
    deps.onClose()
    // Unregistering gives back all attempts uncounted, which would be wrong for attempts lost
    // through an expired lease.
    lease.isKept()
    const hasNoUnreportedLosses = attemptTable.abandoned().length === 0
    attemptTable.abandonRunning()
    // After unregistering, other workers get these runs, so all their processes must be gone first.
    await executors.close()
    if (hasNoUnreportedLosses) await unregister(deps)
    reporter.log('stopped', { reason })
    stopped.resolve(reason)
  }

  return {
    drain(graceMs, reason) {
      void clock.sleep(graceMs, closed.signal).then(graceExpired.resolve)
      if (isDraining) return
      isDraining = true
      reporter.log('draining', { graceMs })
      attemptTable.close()
      void windDown(reason)
    },
    isDraining: () => isDraining,
    async kill() {
      isDraining = true
      attemptTable.close()
      await close('drained')
    },
    close,
    onChange() {
      if (isDraining && attemptTable.isEmpty()) emptied.resolve()
    },
    stopped: stopped.promise,
  }
}

async function unregister({ client, clock, reporter, registrar }: ShutdownDeps): Promise<void> {
  const { key, registration } = registrar
  if (key === undefined) return
  const sent = await sendRequest(() => client.leave(key, registration), {
    clock,
    limitMs: UNREGISTER_MS,
    signal: new AbortController().signal,
  })
  // A server that has no such session any more needs no message.
  if (sent.kind === 'failed' && !mustRegisterAgain(sent.error)) reporter.error(sent.error)
}
