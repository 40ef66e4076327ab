import { saltOf } from '../../core/run/fence.ts'
import type { Lease, TickBatch } from '../../store/port.ts'

/** How many unconfirmed grants are remembered; older ones count as delivered. */
const LIMIT = 100_000

/**
 * Grants of ticks whose commit was never confirmed. They may be in the store, but no worker knows
 * of them: such a lease can be returned uncounted. A lease that is not remembered here may have
 * been started.
 */
export interface UndeliveredGrants {
  remember(batch: Pick<TickBatch, 'submits' | 'claims'>): void
  has(lease: Lease): boolean
}

export function createUndeliveredGrants(): UndeliveredGrants {
  const grants = new Set<string>()
  const key = (session: number, salt: number) => `${session}/${salt}`
  const add = (session: number, salt: number) => {
    if (grants.size >= LIMIT) grants.clear()
    grants.add(key(session, salt))
  }
  return {
    remember(batch) {
      for (const { reservation } of batch.submits) {
        if (reservation) add(reservation.session, saltOf(reservation.fence))
      }
      for (const { sessions, salts } of batch.claims) {
        for (const [row, session] of sessions.entries()) add(session, salts[row] as number)
      }
    },
    has: ({ session, fence }) => grants.has(key(session, saltOf(fence))),
  }
}
