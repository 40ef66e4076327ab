import type { Lease } from '../../store/port.ts'
import type { Membership } from '../cluster/membership.ts'
import type { Vault } from './vault.ts'

/**
 * A node that lacks a key in use is no node: it does not start, and it does not come back. A rotation
 * asks only those who are there, so one that was declared dead may find its keys to be old ones.
 */
export interface Absence {
  /** There is something here that only others can open: gives it back and leaves. */
  begin(leases: readonly Lease[]): void
  /** Joins again, if it has all keys now. */
  end(): Promise<void>
  /** Why it stays away. */
  reason(): string | undefined
}

export function createAbsence(deps: {
  readonly vault: Pick<Vault, 'check' | 'announce'>
  readonly membership: Pick<Membership, 'node' | 'join' | 'leave'>
  /** Uncounted. Resolves when it is durable. */
  giveBack(leases: readonly Lease[]): Promise<void>
  onError(error: unknown): void
}): Absence {
  const { vault, membership, onError } = deps
  let reason: string | undefined

  /** Says so once, however often it is tried. */
  const hasKeys = async () => {
    try {
      await vault.check()
      reason = undefined
      return true
    } catch (error) {
      const { message } = error as Error
      if (message !== reason) onError(error)
      reason = message
      return false
    }
  }

  return {
    begin(leases) {
      // The next beat finds that it is gone, and comes here to join again.
      deps
        .giveBack(leases)
        .then(() => membership.leave())
        .catch(onError)
    },
    async end() {
      if (!(await hasKeys())) return
      await membership.join()
      await vault.announce(membership.node)
      // From here on nobody seals with what this node lacks; what was sealed before, it must know.
      if (!(await hasKeys())) await membership.leave()
    },
    reason: () => reason,
  }
}
