import type { ClockEvent } from '../../core/trusted-clock.ts'
import type { RunProgress } from '../../core/wire/protocol.ts'
import type { EndCommand, Lease, TickBatch, TickResult } from '../../store/port.ts'
import type { HeldLease, Session } from '../sessions/session.ts'

/**
 * Events of one subsystem that concern subsystems created after it. Senders get this object and call
 * its functions; `src/server/node/node-signals.ts` implements them and calls the receivers by name.
 */
export interface NodeSignals {
  /** A tick is durable. */
  tickCommitted(batch: TickBatch, result: TickResult, tookMs: number, mono: number): void
  /** A commit has an unknown outcome: its leases may exist, and no session knows of them. */
  commitUnknown(batch: Pick<TickBatch, 'submits' | 'claims'>): void
  /** An attempt has ended or was given back. */
  attemptEnded(lease: Lease, command: EndCommand, now: number): void
  /** A lease was written that no session can take any more. */
  leaseUndeliverable(lease: Lease): void
  /** These lanes have work that was not written by a tick of this node. */
  lanesReady(laneIds: readonly number[]): void
  /** Which lanes have work matters now and is unknown. */
  lanesUnsure(): void
  /** A queue has used up its rate for a while. */
  queueLimited(): void
  /** A timer was written that may be due before the promoter planned to wake. */
  timerWritten(dueAt: number): void
  /** These runs are new or have changed. */
  runsChanged(runIds: readonly number[]): void
  /** An attempt reports its progress. */
  progressReported(lease: HeldLease, progress: RunProgress): void
  /** A workflow run may wait in this lane. */
  workflowWaiting(laneId: number): void
  /** A workflow can begin or advance. */
  workflowsDue(): void
  /** A workflow has ended on this node. */
  workflowEnded(runId: number): void
  /** Jobs have to follow a run that ended. */
  followUpsDue(): void
  /** A schedule may be due, or was changed. */
  schedulesDue(): void
  /** A backfill was requested. */
  backfillRequested(): void
  /** Every schedule follows the trusted time again, so that time can be stored. */
  schedulesRewound(): void
  /** The wall clock of the store was held, accepted or is trusted again. */
  clockChanged(event: ClockEvent): void
  /** A session left this node. */
  sessionRemoved(session: Session): void
  /** A token was revoked or has expired. */
  tokenEnded(tokenId: number, isOfInstallation?: boolean): void
}
