import { PunctualError } from '../../core/errors.ts'
import type { Membership } from '../cluster/membership.ts'

export function unknownSession(): PunctualError {
  return new PunctualError('session_unknown', 'the session is not registered on this node')
}

export function supersededSession(): PunctualError {
  return new PunctualError('session_superseded', 'a newer registration of this session exists')
}

export function cannotRenew(): PunctualError {
  return new PunctualError('node_cannot_renew', 'this node may not renew leases right now')
}

/** A node without contact to the store must not accept workers. */
export function requirePromises(membership: Pick<Membership, 'mayPromise'>): void {
  if (!membership.mayPromise()) throw cannotRenew()
}
