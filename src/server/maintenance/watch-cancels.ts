import type { SweepStore } from '../../store/port.ts'
import type { Membership } from '../cluster/membership.ts'
import type { SessionIndex } from '../sessions/session-index.ts'
import type { LoopStep } from '../loops/run-loop.ts'

/**
 * A cancel request on another node marks the lease; the owner finds the mark and sends a
 * stop to the worker.
 */
export function watchCancels(deps: {
  store: Pick<SweepStore, 'cancelMarks'>
  membership: Membership
  sessionIndex: SessionIndex
}): LoopStep {
  return async () => {
    if (deps.sessionIndex.leaseCount() === 0) return { more: false }
    for (const runId of await deps.store.cancelMarks({ node: deps.membership.node })) {
      const lease = deps.sessionIndex.leaseOf(runId)
      if (lease) lease.cancelling = true
    }
    return { more: false }
  }
}
