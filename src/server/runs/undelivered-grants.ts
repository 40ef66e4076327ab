import { saltOf } from '../../core/run/fence.ts'
import type { Lease, TickBatch } from '../../store/port.ts'

/** How many unconfirmed grants are remembered; older ones are then treated as if delivered. */
const LIMIT = 100_000

/**
 * Grants of ticks whose commit was never confirmed. They may be in the store, but no worker was told:
 * such a lease can be given back uncounted. A lease that is not remembered here may have been started.
 */
export interface Undelivered {
  remember(batch: Pick<TickBatch, 'submits' | 'claims'>): void
  has(lease: Lease): boolean
}

export function createUndelivered(): Undelivered {
  const grants = new Set<string>()
  const key = (session: number, salt: number) => `${session}/${salt}`
  const add = (session: number, salt: number) => {
    if (grants.size >= LIMIT) grants.clear()
    grants.add(key(session, salt))
  }
  return {
    remember(batch) {
      for (const { handOff } of batch.submits) {
        if (handOff) add(handOff.session, saltOf(handOff.fence))
      }
      for (const { sessions, salts } of batch.claims) {
        for (const [row, session] of sessions.entries()) add(session, salts[row] as number)
      }
    },
    has: ({ session, fence }) => grants.has(key(session, saltOf(fence))),
  }
}
