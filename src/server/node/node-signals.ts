import type { RunProgress } from '../../core/wire/protocol.ts'
import type { ClockEvent } from '../../core/trusted-clock.ts'
import type { EndCommand, Lease, TickBatch, TickResult } from '../../store/port.ts'
import type { LaneIndex } from '../dispatch/lanes/lane-index.ts'
import type { Ticker } from '../dispatch/ticker.ts'
import { changedBy } from '../events/run-changes.ts'
import type { ViolationDetector } from '../expectations/violation-detector.ts'
import type { NodeSignals } from '../signals/signals.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { AttemptEnder } from '../runs/attempt-ender.ts'
import type { UndeliveredGrants } from '../runs/undelivered-grants.ts'
import type { Watch } from '../runs/watch.ts'
import type { Firing } from '../schedules/firing/firing.ts'
import type { ScheduleRewinder } from '../schedules/firing/schedule-rewinder.ts'
import type { RecentOffers } from '../sessions/recent-offers.ts'
import type { SessionRegistry } from '../workers/session-registry.ts'
import type { HeldLease, Session } from '../sessions/session.ts'
import type { WorkflowEngine } from '../workflows/workflow-engine.ts'
import type { RunEvents } from './assemble-events.ts'
import type { Loops } from './start-loops.ts'
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

/** The signals of a node, and the two steps in which their receivers are connected. */
export interface ConnectedSignals extends NodeSignals {
  /** Every subsystem exists: called once, before the first signal can be sent. */
  connect(subsystems: SignalListeners): void
  /** The node has joined: called once. */
  connectJoined(parts: JoinedListeners): void
}

/** Each signal calls its receivers by name. */
export function createNodeSignals(): ConnectedSignals {
  let listeners: SignalListeners
  let joined: JoinedListeners | null = null

  return {
    connect(subsystems: SignalListeners): void {
      listeners = subsystems
    },
    connectJoined(parts: JoinedListeners): void {
      joined = parts
    },

    tickCommitted(batch: TickBatch, result: TickResult, tookMs: number, mono: number): void {
      listeners.metrics.onTick(batch, result, tookMs)
      listeners.membership.writeSucceeded(mono - tookMs)
      for (const { runId } of batch.ends) listeners.watch.touched(runId)
      for (const { runId } of batch.cancels) listeners.watch.touched(runId)
      for (const { runId } of batch.cancels) listeners.firing.ended(runId)
      listeners.workflows.receiveSignals(result.signals)
      joined?.events.feed.touched(changedBy(batch, result))
    },

    commitUnknown(batch: Pick<TickBatch, 'submits' | 'claims'>): void {
      listeners.undelivered.remember(batch)
      joined?.loops.checkLeases()
    },

    attemptEnded(lease: Lease, command: EndCommand, now: number): void {
      listeners.metrics.onEnd(lease, command, now)
      // Only runs with a due time can belong to a schedule, and only these can have followers.
      if (lease.dueAt === null || command.to === 'given_back' || command.to === 'retry') return
      listeners.firing.ended(lease.runId)
      listeners.violationDetector.ended(lease.runId)
    },

    leaseUndeliverable(lease: Lease): void {
      listeners.attempts.giveBack([lease])
    },

    lanesReady(laneIds: readonly number[]): void {
      for (const laneId of laneIds) listeners.laneIndex.entered(laneId, null)
      listeners.ticker.kick()
    },

    lanesUnsure(): void {
      joined?.loops.refreshLanes()
    },

    queueLimited(): void {
      joined?.loops.wakeLimitedLanes()
    },

    timerWritten(dueAt: number): void {
      joined?.loops.wakeTimers(dueAt)
    },

    runsChanged(runIds: readonly number[]): void {
      for (const runId of runIds) listeners.watch.touched(runId)
      joined?.events.feed.touched(runIds)
    },

    progressReported(lease: HeldLease, progress: RunProgress): void {
      joined?.events.publishProgress(lease, progress)
    },

    workflowWaiting(laneId: number): void {
      listeners.workflows.ready(laneId)
    },

    workflowsDue(): void {
      joined?.loops.wakeWorkflows()
    },

    workflowEnded(runId: number): void {
      listeners.firing.ended(runId)
    },

    followUpsDue(): void {
      joined?.loops.wakeFollowUps()
    },

    schedulesDue(): void {
      joined?.loops.wakeSchedules()
    },

    backfillRequested(): void {
      joined?.loops.wakeBackfills()
    },

    schedulesRewound(): void {
      joined?.loops.noteClock()
    },

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

    sessionRemoved({ offer }: Session): void {
      listeners.recentOffers.note(offer)
    },

    tokenEnded(tokenId: number, isOfInstallation = false): void {
      listeners.registry.endToken(tokenId, isOfInstallation)
    },
  }
}
