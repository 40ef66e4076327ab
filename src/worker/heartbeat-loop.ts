import type { Clock, Random } from '../core/clock.ts'
import type { Held, HeartbeatAnswer, Working } from '../core/protocol.ts'
import type { Book } from './book.ts'
import type { Lease } from './lease.ts'
import { mustRegisterAgain } from './refusal.ts'
import { send } from './send.ts'
import type { Session } from './session.ts'
import type { Telling } from './telling.ts'

export interface HeartbeatDeps {
  readonly client: Working
  readonly clock: Clock
  readonly random: Random
  readonly book: Book
  readonly lease: Lease
  readonly telling: Telling
  onHeartbeat(): void
}

/**
 * Keeps the session's leases until the session ends. A heartbeat without an answer does not hold up
 * the next; how many can be under way is bounded by the lease, which ends the session.
 */
export async function heartbeatLoop(session: Session, deps: HeartbeatDeps): Promise<void> {
  const { clock, random } = deps
  const { heartbeatMs, signal } = session
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
  const { id, registration, answered, leaseTtlMs, signal } = session
  const held = book.held()
  const sentMono = clock.mono()
  deps.onHeartbeat()
  const sent = await send(() => client.heartbeat(id, { registration, answered, held }), {
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
  takeIn(sent.answer, held, book)
  return 'answered'
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
