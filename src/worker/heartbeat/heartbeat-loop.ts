import type { Clock, Random } from '../../core/clock.ts'
import { LIMITS } from '../../core/limits.ts'
import type {
  Heartbeat,
  HeartbeatAnswer,
  LeasedAttempt,
  WorkerClient,
} from '../../core/wire/protocol.ts'
import type { AttemptTable } from '../attempts/attempt-table.ts'
import { type SessionLease, leaseSpanMs } from './lease.ts'
import type { Quarantine } from '../attempts/quarantine.ts'
import type { HeartbeatThread } from './heartbeat-thread.ts'
import { mustRegisterAgain } from '../requests/refusal.ts'
import { sendRequest } from '../requests/send-request.ts'
import type { SessionRegistration } from '../requests/session-registration.ts'
import type { WorkerReporter } from '../events/worker-reporter.ts'

export interface HeartbeatDeps {
  readonly client: WorkerClient
  readonly clock: Clock
  readonly random: Random
  readonly attemptTable: AttemptTable
  readonly quarantine?: Pick<Quarantine, 'reason'> | undefined
  readonly lease: SessionLease
  readonly reporter: WorkerReporter
  /** Sends heartbeats while this thread is busy. */
  readonly heartbeatThread?: Pick<HeartbeatThread, 'remember'> | undefined
  onHeartbeat(): void
}

/**
 * Keeps the session's leases until the session ends. A heartbeat without an answer does not delay
 * the next one; the lease limits how many can be in flight, because it ends the session when it
 * expires.
 */
export async function heartbeatLoop(
  session: SessionRegistration,
  deps: HeartbeatDeps,
): Promise<void> {
  const { clock, random } = deps
  const { heartbeatMs, signal } = session
  // The first attempt may block the thread before the first heartbeat gets a turn.
  rememberHeartbeat(session, messageOf(session, deps), deps)
  // Jitter: workers that registered together after a server's restart should not send heartbeats
  // together.
  let waitMs = heartbeatMs * (0.5 + random() / 2)
  for (;;) {
    await clock.sleep(waitMs, signal)
    if (signal.aborted) return
    const sentMono = clock.mono()
    const inTime = new AbortController()
    const outcome = await Promise.race([
      sendHeartbeat(session, deps),
      clock.sleep(heartbeatMs, inTime.signal).then(() => 'late' as const),
    ])
    inTime.abort('finished')
    const leftMs = Math.max(0, sentMono + heartbeatMs - clock.mono())
    waitMs = outcome === 'failed' ? heartbeatMs / 3 : leftMs
  }
}

async function sendHeartbeat(
  session: SessionRegistration,
  deps: HeartbeatDeps,
): Promise<'answered' | 'failed'> {
  const { client, clock, attemptTable, lease, reporter } = deps
  const { key, leaseTtlMs, signal } = session
  const message = messageOf(session, deps)
  const sentMono = clock.mono()
  deps.onHeartbeat()
  rememberHeartbeat(session, message, deps)
  const sent = await sendRequest(() => client.heartbeat(key, message), {
    clock,
    limitMs: leaseTtlMs,
    signal,
  })
  if (sent.kind === 'abandoned' || signal.aborted) return 'failed'
  if (sent.kind === 'failed') {
    reporter.error(sent.error)
    if (mustRegisterAgain(sent.error)) session.end('the server refused a heartbeat')
    return 'failed'
  }
  lease.renew(sentMono, leaseTtlMs)
  applyAnswer(sent.answer, message.held, attemptTable)
  return 'answered'
}

function messageOf(
  { registration, answered }: SessionRegistration,
  { attemptTable, quarantine }: Pick<HeartbeatDeps, 'attemptTable' | 'quarantine'>,
): Heartbeat {
  const reason = quarantine?.reason ?? null
  const quarantined = reason === null ? {} : { quarantined: reason.slice(0, LIMITS.reasonLength) }
  return { registration, answered, held: attemptTable.held(), ...quarantined }
}

function rememberHeartbeat(
  { key, heartbeatMs, leaseTtlMs }: SessionRegistration,
  message: Heartbeat,
  deps: HeartbeatDeps,
) {
  const post = deps.client.heartbeatPost?.(key, message)
  if (!post) return
  const spanMs = leaseSpanMs(leaseTtlMs)
  deps.heartbeatThread?.remember({ post, held: message.held, heartbeatMs, spanMs })
}

/**
 * A loss concerns the fence that was listed: the run may have come back under a new one meanwhile.
 */
function applyAnswer(
  answer: HeartbeatAnswer,
  listed: readonly LeasedAttempt[],
  attemptTable: AttemptTable,
): void {
  dropLost(answer.lost, listed, attemptTable)
  for (const run of answer.cancels) attemptTable.cancel(run)
}

export function dropLost(
  lost: readonly string[],
  listed: readonly LeasedAttempt[],
  attemptTable: AttemptTable,
): void {
  if (lost.length === 0) return
  const runs = new Set(lost)
  for (const held of listed) {
    if (runs.has(held.run)) attemptTable.markLost(held)
  }
}
