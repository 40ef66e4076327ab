import type { RunProgress } from '../../core/wire/protocol.ts'
import type { ClockEvent } from '../../core/trusted-clock.ts'
import type { EndCommand, Lease, TickBatch, TickResult } from '../../store/port.ts'
import type { LaneIndex } from '../dispatch/lane-index.ts'
import type { Ticker } from '../dispatch/ticker.ts'
import { changedBy } from '../events/run-changes.ts'
import type { ViolationDetector } from '../expectations/violation-detector.ts'
import type { Loops } from '../maintenance/start-loops.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { AttemptEnder } from '../runs/attempt-ender.ts'
import type { UndeliveredGrants } from '../runs/undelivered-grants.ts'
import type { Watch } from '../runs/watch.ts'
import type { Firing } from '../schedules/firing.ts'
import type { ScheduleRewinder } from '../schedules/schedule-rewinder.ts'
import type { RecentOffers } from '../sessions/recent-offers.ts'
import type { SessionRegistry } from '../workers/session-registry.ts'
import type { HeldLease, Session } from '../sessions/session.ts'
import type { WorkflowEngine } from '../workflows/workflow-engine.ts'
import type { RunEvents } from './assemble-events.ts'
import type { Membership } from '../cluster/membership.ts'

/** The subsystems that react to signals. */
export interface SignalListeners {
  readonly metrics: Metrics
  readonly membership: Membership
  readonly laneIndex: LaneIndex
  readonly ticker: Ticker
  readonly undelivered: UndeliveredGrants
  readonly attempts: AttemptEnder
  readonly recentOffers: RecentOffers
  readonly registry: SessionRegistry
  readonly watch: Watch
  readonly workflows: WorkflowEngine
  readonly firing: Firing
  readonly rewinding: ScheduleRewinder
  readonly violationDetector: ViolationDetector
}

/**
 * Receivers created after the node joined. Earlier signals are dropped: every loop runs its first
 * step when it starts.
 */
export interface JoinedListeners {
  readonly loops: Loops
  readonly events: RunEvents
}

/**
 * What happens in one subsystem and concerns others that are created later. Each signal is a
 * function that calls its listeners by name: nothing is looked up, and go-to-definition leads from
 * the sender through this file to the listener.
 */
export type NodeSignals = ReturnType<typeof createNodeSignals>

export function createNodeSignals() {
  let listeners: SignalListeners
  let joined: JoinedListeners | null = null

  return {
    /** Every subsystem exists: called once, before the first signal can be sent. */
    connect(subsystems: SignalListeners): void {
      listeners = subsystems
    },
    /** The node has joined: called once. */
    connectJoined(parts: JoinedListeners): void {
      joined = parts
    },

    /** A tick is durable. */
    tickCommitted(batch: TickBatch, result: TickResult, tookMs: number, mono: number): void {
      listeners.metrics.onTick(batch, result, tookMs)
      listeners.membership.writeSucceeded(mono - tookMs)
      for (const { runId } of batch.ends) listeners.watch.touched(runId)
      for (const { runId } of batch.cancels) listeners.watch.touched(runId)
      for (const { runId } of batch.cancels) listeners.firing.ended(runId)
      listeners.workflows.receiveSignals(result.signals)
      joined?.events.feed.touched(changedBy(batch, result))
    },

    /** A commit has an unknown outcome: its leases may exist, and no session knows of them. */
    commitUnknown(batch: Pick<TickBatch, 'submits' | 'claims'>): void {
      listeners.undelivered.remember(batch)
      joined?.loops.checkLeases()
    },

    /** An attempt has ended or was given back. */
    attemptEnded(lease: Lease, command: EndCommand, now: number): void {
      listeners.metrics.onEnd(lease, command, now)
      // Only runs with a due time can belong to a schedule, and only these can have followers.
      if (lease.dueAt === null || command.to === 'given_back' || command.to === 'retry') return
      listeners.firing.ended(lease.runId)
      listeners.violationDetector.ended(lease.runId)
    },

    /** A lease was written that no session can take any more. */
    leaseUndeliverable(lease: Lease): void {
      listeners.attempts.giveBack([lease])
    },

    /** These lanes have work that was not written by a tick of this node. */
    lanesReady(laneIds: readonly number[]): void {
      for (const laneId of laneIds) listeners.laneIndex.entered(laneId, null)
      listeners.ticker.kick()
    },

    /** Which lanes have work matters now and is unknown. */
    lanesUnsure(): void {
      joined?.loops.refreshLanes()
    },

    /** A queue has used up its rate for a while. */
    queueLimited(): void {
      joined?.loops.wakeLimitedLanes()
    },

    /** A timer was written that may be due before the promoter planned to wake. */
    timerWritten(dueAt: number): void {
      joined?.loops.wakeTimers(dueAt)
    },

    /** These runs are new or have changed. */
    runsChanged(runIds: readonly number[]): void {
      for (const runId of runIds) listeners.watch.touched(runId)
      joined?.events.feed.touched(runIds)
    },

    /** An attempt reports its progress. */
    progressReported(lease: HeldLease, progress: RunProgress): void {
      joined?.events.publishProgress(lease, progress)
    },

    /** A workflow run may wait in this lane. */
    workflowWaiting(laneId: number): void {
      listeners.workflows.ready(laneId)
    },

    /** A workflow can begin or advance. */
    workflowsDue(): void {
      joined?.loops.wakeWorkflows()
    },

    /** A workflow has ended on this node. */
    workflowEnded(runId: number): void {
      listeners.firing.ended(runId)
    },

    /** Jobs have to follow a run that ended. */
    followUpsDue(): void {
      joined?.loops.wakeFollowUps()
    },

    /** A schedule may be due, or was changed. */
    schedulesDue(): void {
      joined?.loops.wakeSchedules()
    },

    /** A backfill was requested. */
    backfillRequested(): void {
      joined?.loops.wakeBackfills()
    },

    /** Every schedule follows the trusted time again, so that time can be stored. */
    schedulesRewound(): void {
      joined?.loops.noteClock()
    },

    /** The wall clock of the store was held, accepted or is trusted again. */
    clockChanged(event: ClockEvent): void {
      listeners.metrics.onClock(event)
      // Every event that moved the trusted time, except a suspend.
      if ('hold' in event && event.kind !== 'held') {
        const isBack = event.byMs < 0
        if (isBack) listeners.membership.clockSetBack()
        if (isBack) listeners.rewinding.begin()
        listeners.firing.clockMoved()
      }
      joined?.loops.wakeClock()
    },

    /** A session left this node. */
    sessionRemoved({ offer }: Session): void {
      listeners.recentOffers.note(offer)
    },

    /** A token was revoked or has expired. */
    tokenEnded(tokenId: number, isOfInstallation = false): void {
      listeners.registry.endToken(tokenId, isOfInstallation)
    },
  }
}
