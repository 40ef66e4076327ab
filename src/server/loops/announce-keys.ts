import type { Membership } from '../cluster/membership.ts'
import type { Vault } from '../secrets/vault.ts'
import type { Step } from './run-loop.ts'

/** Keys are added to a file while nodes run: each finds them by itself, and tells the others. */
export function announceKeys(deps: { vault: Vault; membership: Pick<Membership, 'node'> }): Step {
  return async () => {
    await deps.vault.announce(deps.membership.node)
    return { more: false }
  }
}
