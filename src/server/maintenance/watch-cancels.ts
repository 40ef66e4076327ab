import type { SweepStore } from '../../store/port.ts'
import type { Membership } from '../cluster/membership.ts'
import type { Roster } from '../sessions/session-index.ts'
import type { Step } from '../loops/run-loop.ts'

/** Cancels asked of another node mark the lease; the owner finds the mark and tells the worker. */
export function watchCancels(deps: {
  store: Pick<SweepStore, 'cancelMarks'>
  membership: Membership
  roster: Roster
}): Step {
  return async () => {
    if (deps.roster.leaseCount() === 0) return { more: false }
    for (const runId of await deps.store.cancelMarks({ node: deps.membership.node })) {
      const lease = deps.roster.leaseOf(runId)
      if (lease) lease.cancelling = true
    }
    return { more: false }
  }
}
