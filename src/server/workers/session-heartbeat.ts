import type { Clock } from '../../core/clock.ts'
import { PunctualError } from '../../core/errors.ts'
import { publicId, requirePublicId } from '../../core/ids.ts'
import type { Heartbeat, HeartbeatAnswer } from '../../core/wire/protocol.ts'
import type { Lease, NodeStore } from '../../store/port.ts'
import type { Membership } from '../cluster/membership.ts'
import { requirePromises } from './session-errors.ts'
import { confirm, type Session } from '../sessions/session.ts'

export interface SessionHeartbeatDeps {
  readonly clock: Pick<Clock, 'mono'>
  readonly store: Pick<NodeStore, 'quarantineSession'>
  readonly membership: Pick<Membership, 'mayPromise'>
  /** Uncounted: the worker does not know of these attempts. */
  giveBack(leases: readonly Lease[]): void
  onError(error: unknown): void
}

/** Keeps the session alive, and compares the attempts that the worker lists with its leases. */
export function acceptHeartbeat(
  session: Session,
  message: Heartbeat,
  deps: SessionHeartbeatDeps,
): HeartbeatAnswer {
  requirePromises(deps.membership)
  if (message.answered > session.exchange) {
    const why = 'answered must be the number of an exchange that there was'
    throw new PunctualError('invalid_field', why, { field: 'answered' })
  }
  session.lastSeenMono = deps.clock.mono()
  noteQuarantine(session, message.quarantined ?? null, deps)
  confirm(session, message.answered)
  const listed = new Map<number, number>()
  for (const [index, { run, fence }] of message.held.entries()) {
    listed.set(requirePublicId('run', run, `held.${index}.run`), fence)
  }
  const lost: string[] = []
  for (const [runId, fence] of listed) {
    if (session.leases.get(runId)?.fence !== fence) lost.push(publicId('run', runId))
  }
  const cancels: string[] = []
  const dropped: Lease[] = []
  for (const lease of session.leases.values()) {
    const isListed = listed.get(lease.runId) === lease.fence
    if (isListed && lease.cancelling) cancels.push(publicId('run', lease.runId))
    if (!isListed && lease.exchange <= message.answered) dropped.push(lease)
  }
  deps.giveBack(dropped)
  return { lost, cancels }
}

/** Written for users of other nodes. No decision depends on it, so no request waits for it. */
function noteQuarantine(
  session: Session,
  reason: string | null,
  { store, onError }: SessionHeartbeatDeps,
): void {
  if (session.quarantined === reason) return
  session.quarantined = reason
  const { id, registration } = session
  store.quarantineSession({ session: id, registration, reason }).catch((error: unknown) => {
    session.quarantined = null
    onError(error)
  })
}
