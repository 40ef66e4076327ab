import type { ProcessEnd } from '../../core/run/output.ts'
import { endAttempt, type Report } from '../../core/run/end-attempt.ts'
import type { Cause, Ending } from '../../core/run/run-state.ts'
import { decodePolicy } from '../../core/run/run-policy.ts'
import type { EndCommand, Lease } from '../../store/port.ts'

export interface Told {
  readonly worker?: string | null | undefined
  readonly message?: string | null | undefined
  readonly result?: string | null | undefined
  readonly process?: ProcessEnd | undefined
  /** Set by whoever noticed a loss: the lease must still belong to this node. */
  readonly owner?: number | undefined
}

/** Turns what was reported about an attempt into the one command that ends it. */
export function endCommand(
  lease: Lease,
  report: Report,
  told: Told,
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
    owner: told.owner ?? null,
    to: ending.to,
    cause: causeOf(ending),
    delayMs: isRetry ? ending.delayMs : 0,
    lost: isRetry ? ending.lost : lease.lost,
    // A fresh place: failures do not jump the queue.
    pos: isRetry ? mintId() : lease.runId,
    worker: told.worker ?? null,
    message: told.message ?? null,
    result: told.result ?? null,
    process: told.process ? JSON.stringify(told.process) : null,
  }
}

/** What is given back has no cause, unless a cancel nobody here knew of makes an end of it. */
function causeOf(ending: Ending): Cause | null {
  if (ending.to === 'succeeded') return null
  return ending.to === 'given_back' ? 'cancelled' : ending.cause
}
