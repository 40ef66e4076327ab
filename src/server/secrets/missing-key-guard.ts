import type { Lease } from '../../store/port.ts'
import type { Membership } from '../cluster/membership.ts'
import type { Vault } from './vault.ts'

/**
 * Keeps a node without a required key out of the cluster: it neither starts nor joins again. A
 * rotation asks only live nodes, so a node that was declared dead may find that its keys are
 * outdated.
 */
export interface MissingKeyGuard {
  /** A secret cannot be decrypted here: returns the leases and leaves the cluster. */
  begin(leases: readonly Lease[]): void
  /** Joins again if it has all keys now. */
  end(): Promise<void>
  /** Why the node stays out of the cluster. */
  reason(): string | undefined
}

export function createMissingKeyGuard(deps: {
  readonly vault: Pick<Vault, 'check' | 'announce'>
  readonly membership: Pick<Membership, 'node' | 'join' | 'leave'>
  /** Uncounted. Resolves when it is durable. */
  giveBack(leases: readonly Lease[]): Promise<void>
  onError(error: unknown): void
}): MissingKeyGuard {
  const { vault, membership, onError } = deps
  let reason: string | undefined

  /** Reports the problem once, however often it is checked. */
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
      // The next heartbeat finds that the node has left, and comes here to join again.
      deps
        .giveBack(leases)
        .then(() => membership.leave())
        .catch(onError)
    },
    async end() {
      if (!(await hasKeys())) return
      await membership.join()
      await vault.announce(membership.node)
      // From here on no node encrypts with a key this one lacks; existing secrets still need a
      // check.
      if (!(await hasKeys())) await membership.leave()
    },
    reason: () => reason,
  }
}
