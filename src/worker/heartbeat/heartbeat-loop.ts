import type { Clock, Random } from '../../core/clock.ts'
import { LIMITS } from '../../core/limits.ts'
import type { Heartbeat, HeartbeatAnswer, Held, Working } from '../../core/wire/protocol.ts'
import type { Book } from '../attempts/attempt-table.ts'
import { type Lease, leaseSpanMs } from './lease.ts'
import type { Quarantine } from '../attempts/quarantine.ts'
import type { Pacemaker } from './heartbeat-thread.ts'
import { mustRegisterAgain } from '../requests/refusal.ts'
import { send } from '../requests/send-request.ts'
import type { Session } from '../requests/session-registration.ts'
import type { Telling } from '../events/worker-reporter.ts'

export interface HeartbeatDeps {
  readonly client: Working
  readonly clock: Clock
  readonly random: Random
  readonly book: Book
  readonly quarantine?: Pick<Quarantine, 'reason'> | undefined
  readonly lease: Lease
  readonly telling: Telling
  /** Beats when this thread is too busy to. */
  readonly pacemaker?: Pick<Pacemaker, 'note'> | undefined
  onHeartbeat(): void
}

/**
 * Keeps the session's leases until the session ends. A heartbeat without an answer does not hold up
 * the next; how many can be under way is bounded by the lease, which ends the session.
 */
export async function heartbeatLoop(session: Session, deps: HeartbeatDeps): Promise<void> {
  const { clock, random } = deps
  const { heartbeatMs, signal } = session
  // The first attempt may take the thread before the first heartbeat gets a turn.
  noteDown(session, messageOf(session, deps), deps)
  // Workers that registered together, after a server's restart, should not beat together.
  let waitMs = heartbeatMs * (0.5 + random() / 2)
  for (;;) {
    await clock.sleep(waitMs, signal)
    if (signal.aborted) return
    const sentMono = clock.mono()
    const inTime = new AbortController()
    const outcome = await Promise.race([
      beat(session, deps),
      clock.sleep(heartbeatMs, inTime.signal).then(() => 'late' as const),
    ])
    inTime.abort('over')
    const leftMs = Math.max(0, sentMono + heartbeatMs - clock.mono())
    waitMs = outcome === 'failed' ? heartbeatMs / 3 : leftMs
  }
}

async function beat(session: Session, deps: HeartbeatDeps): Promise<'answered' | 'failed'> {
  const { client, clock, book, lease, telling } = deps
  const { id, leaseTtlMs, signal } = session
  const message = messageOf(session, deps)
  const sentMono = clock.mono()
  deps.onHeartbeat()
  noteDown(session, message, deps)
  const sent = await send(() => client.heartbeat(id, message), {
    clock,
    limitMs: leaseTtlMs,
    signal,
  })
  if (sent.kind === 'abandoned' || signal.aborted) return 'failed'
  if (sent.kind === 'failed') {
    telling.error(sent.error)
    if (mustRegisterAgain(sent.error)) session.end('the server refused a heartbeat')
    return 'failed'
  }
  lease.renew(sentMono, leaseTtlMs)
  takeIn(sent.answer, message.held, book)
  return 'answered'
}

function messageOf(
  { registration, answered }: Session,
  { book, quarantine }: Pick<HeartbeatDeps, 'book' | 'quarantine'>,
): Heartbeat {
  const reason = quarantine?.reason ?? null
  const quarantined = reason === null ? {} : { quarantined: reason.slice(0, LIMITS.reasonLength) }
  return { registration, answered, held: book.held(), ...quarantined }
}

function noteDown(
  { id, heartbeatMs, leaseTtlMs }: Session,
  message: Heartbeat,
  deps: HeartbeatDeps,
) {
  const post = deps.client.heartbeatPost?.(id, message)
  if (!post) return
  const spanMs = leaseSpanMs(leaseTtlMs)
  deps.pacemaker?.note({ post, held: message.held, heartbeatMs, spanMs })
}

/** A loss concerns the fence that was listed: meanwhile the run may be here again, under a new one. */
function takeIn(answer: HeartbeatAnswer, listed: readonly Held[], book: Book): void {
  loseListed(answer.lost, listed, book)
  for (const run of answer.cancels) book.cancel(run)
}

export function loseListed(lost: readonly string[], listed: readonly Held[], book: Book): void {
  if (lost.length === 0) return
  const runs = new Set(lost)
  for (const held of listed) {
    if (runs.has(held.run)) book.lose(held)
  }
}
