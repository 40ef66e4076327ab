import type { ProcessEnd } from '../../core/run/output.ts'
import { endAttempt, type AttemptReport } from '../../core/run/end-attempt.ts'
import type { Cause, AttemptEnd } from '../../core/run/run-state.ts'
import { decodePolicy } from '../../core/run/run-policy.ts'
import type { EndCommand, Lease } from '../../store/port.ts'

export interface EndReport {
  readonly worker?: string | null | undefined
  readonly message?: string | null | undefined
  readonly result?: string | null | undefined
  readonly process?: ProcessEnd | undefined
  /** Set when another party noticed the loss: the lease must still belong to this node. */
  readonly owner?: number | undefined
}

/** Turns the report about an attempt into the command that ends it. */
export function endCommand(
  lease: Lease,
  report: AttemptReport,
  details: EndReport,
  mintId: () => number,
): EndCommand {
  const ending = endAttempt(
    {
      runId: lease.runId,
      attempt: lease.attempt,
      lost: lease.lost,
      cancelling: lease.cancelling,
      policy: decodePolicy(lease.policy),
    },
    report,
  )
  const isRetry = ending.to === 'retry'
  return {
    runId: lease.runId,
    fence: lease.fence,
    owner: details.owner ?? null,
    to: ending.to,
    cause: causeOf(ending),
    delayMs: isRetry ? ending.delayMs : 0,
    lost: isRetry ? ending.lost : lease.lost,
    // A new position: a retry must not jump the queue.
    pos: isRetry ? mintId() : lease.runId,
    worker: details.worker ?? null,
    message: details.message ?? null,
    result: details.result ?? null,
    process: details.process ? JSON.stringify(details.process) : null,
  }
}

/** A returned lease has no cause, unless the store finds a cancel request and ends the run. */
function causeOf(ending: AttemptEnd): Cause | null {
  if (ending.to === 'succeeded') return null
  return ending.to === 'given_back' ? 'cancelled' : ending.cause
}
