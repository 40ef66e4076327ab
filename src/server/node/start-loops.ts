import type { Clock } from '../../core/clock.ts'
import type { AttemptReport } from '../../core/run/end-attempt.ts'
import type { Lease, Store } from '../../store/port.ts'
import type { NodeConfig } from '../cluster/config.ts'
import type { Definitions } from '../definitions/definitions.ts'
import type { Membership } from '../cluster/membership.ts'
import type { SessionIndex } from '../sessions/session-index.ts'
import type { StoreClock } from '../cluster/store-clock.ts'
import type { LaneIndex } from '../dispatch/lanes/lane-index.ts'
import type { Vault } from '../secrets/vault.ts'
import type { Ticker } from '../dispatch/ticker.ts'
import type { UndeliveredGrants } from '../runs/undelivered-grants.ts'
import type { Authenticator } from '../identity/authenticator.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { WorkflowEngine } from '../workflows/workflow-engine.ts'
import { type FollowUps, FOLLOW_UP_PERIOD_MS } from '../runs/follow-ups/follow-ups.ts'
import type { NodeSignals } from '../signals/signals.ts'
import type { StoreHealth } from '../health/store-health.ts'
import type { Firing } from '../schedules/firing/firing.ts'
import type { ScheduleRewinder } from '../schedules/firing/schedule-rewinder.ts'
import type { ViolationDetector } from '../expectations/violation-detector.ts'
import { refreshLanes, wakeLanes } from '../maintenance/refresh-lanes.ts'
import { collectBlobs, type CollectBlobsDeps } from '../maintenance/collect-blobs.ts'
import { NOTE_CLOCK_MS, noteClock } from '../maintenance/note-clock.ts'
import { noteLastSeen, noteUses } from '../maintenance/note-last-seen.ts'
import { checkOwnLeases } from '../maintenance/own-leases.ts'
import { createPromoteStep } from '../maintenance/promote.ts'
import { reapNodes, reapSessions } from '../maintenance/reap.ts'
import { createRecheckStep } from '../dispatch/recheck.ts'
import { startLoop, type Loop, type LoopStep, onlyWhile } from '../loops/run-loop.ts'
import {
  createExpireTokensStep,
  forgetOccurrences,
  runMaintenance,
  pruneRuns,
  createAnnounceKeysStep,
} from '../maintenance/maintenance.ts'
import { watchCancels } from '../maintenance/watch-cancels.ts'

export interface LoopDeps {
  readonly store: Store
  readonly clock: Clock
  readonly config: NodeConfig
  readonly sessionIndex: SessionIndex
  readonly laneIndex: LaneIndex
  readonly ticker: Ticker
  readonly membership: Membership
  readonly storeClock: StoreClock
  readonly vault: Vault
  readonly undelivered: UndeliveredGrants
  readonly definitions: Pick<Definitions, 'learn' | 'workOf'>
  end(leases: readonly Lease[], report: AttemptReport, owner: number | null): Promise<void>
  giveBack(leases: readonly Lease[]): void
  /** The end of this lease is already on its way to the store. */
  isEnding(lease: Lease): boolean
  rejoin(): Promise<void>
  /** Reads which lanes have work. */
  refreshLanes(): Promise<void>
  readonly refreshQueues: LoopStep
  readonly authenticator: Pick<Authenticator, 'takeUses'>
  readonly metrics: Pick<Metrics, 'onLoopLag' | 'onScheduleLag'>
  readonly collecting: CollectBlobsDeps
  readonly firing: Pick<Firing, 'step'>
  readonly rewinding: Pick<ScheduleRewinder, 'isPending'>
  readonly backfill: LoopStep
  readonly violationDetector: Pick<ViolationDetector, 'step'>
  readonly workflows: Pick<WorkflowEngine, 'step' | 'receiveSignals'>
  readonly followUps: FollowUps
  readonly health: Pick<StoreHealth, 'step' | 'onFailure'>
  readonly signals: Pick<NodeSignals, 'lanesReady' | 'timerWritten'>
  onError(error: unknown): void
}

export interface Loops {
  /** A timer was written that may be due before the promoter planned to wake. */
  wakeTimers(dueAt: number): void
  /** A queue has used up its rate for a while. */
  wakeLimitedLanes(): void
  /** A schedule may be due, or was changed. */
  wakeSchedules(): void
  /** A workflow may begin or advance. */
  wakeWorkflows(): void
  /** Jobs have to follow a run that ended. */
  wakeFollowUps(): void
  /** A backfill was requested. */
  wakeBackfills(): void
  /** The lanes with work are needed now. */
  refreshLanes(): void
  /** The store may have leases of this node that no session holds. */
  checkLeases(): void
  /** The clock was held, accepted or is trusted again. */
  wakeClock(): void
  /** The trusted time may be stored now. */
  noteClock(): void
  stop(): Promise<void>
}

const LAG_PERIOD_MS = 5_000
const LAST_SEEN_PERIOD_MS = 5_000
/** How soon this node learns of a key added to its key file. */
const KEYS_PERIOD_MS = 5_000
/** No lane is rate-limited, so there is nothing to do. A new limit wakes the loop. */
const MAX_LIMIT_WAIT_MS = 60_000

/** Starts all loops of a node. */
export function startLoops(deps: LoopDeps): Loops {
  const group = createLoopGroup(deps)
  startMembership(group, deps)
  const timers = startTimers(group, deps)
  const schedules = group.start(deps.firing.step, 1_000)
  const backfills = group.start(deps.backfill, 1_000)
  const { mayFire } = deps.storeClock
  group.start(onlyWhile(mayFire, deps.violationDetector.step), 1_000)
  const leases = startLeaseChecks(group, deps)
  const workflows = group.start(deps.workflows.step, 1_000)
  const followUps = group.start(deps.followUps.step, FOLLOW_UP_PERIOD_MS)
  startRecheck(group, deps)
  const { lanes, rateLimits } = startLaneLoops(group, deps)
  startRecords(group, deps)
  startDeletion(group, deps)
  const clock = startClockNotes(group, deps)
  startHealthChecks(group, deps)

  return {
    wakeTimers(dueAt) {
      if (dueAt - deps.membership.storeNow() < 1_000) timers.wake()
    },
    wakeWorkflows: workflows.wake,
    wakeFollowUps: followUps.wake,
    wakeLimitedLanes: rateLimits.wake,
    wakeSchedules: schedules.wake,
    wakeBackfills: backfills.wake,
    checkLeases: leases.wake,
    refreshLanes: lanes.wake,
    wakeClock() {
      clock.wake()
      schedules.wake()
      timers.wake()
    },
    noteClock: clock.wake,
    stop: group.stop,
  }
}

/** Loops that stop together. */
interface LoopGroup {
  start(step: LoopStep, idleMs: number): Loop
  stop(): Promise<void>
}

function createLoopGroup({ clock, onError }: Pick<LoopDeps, 'clock' | 'onError'>): LoopGroup {
  const stopping = new AbortController()
  const { signal } = stopping
  const loops: Loop[] = []
  return {
    start(step, idleMs) {
      const loop = startLoop(step, { clock, signal, idleMs, onError })
      loops.push(loop)
      return loop
    },
    async stop() {
      stopping.abort()
      await Promise.allSettled(loops.map((loop) => loop.done))
    },
  }
}

/** Renews the row of this node; a node that was declared dead joins again. */
function startMembership(group: LoopGroup, { config, membership, rejoin }: LoopDeps): void {
  const renew = async () => {
    if (!(await membership.renewRow())) await rejoin()
    return { more: false }
  }
  group.start(renew, config.nodeHeartbeatMs)
}

/** Moves due runs into their lanes. */
function startTimers(group: LoopGroup, deps: LoopDeps): Loop {
  const { store, signals, metrics } = deps
  const { storeNow, mintId } = deps.membership
  const { mayFire, isClockOff } = deps.storeClock
  const step = createPromoteStep({
    store,
    mintId,
    storeNow,
    mayFire,
    isClockOff,
    signals,
    metrics,
  })
  return group.start(step, 1_000)
}

/** Ends the leases of dead sessions and nodes, and compares the leases of this node. */
function startLeaseChecks(group: LoopGroup, deps: LoopDeps): Loop {
  const { config } = deps
  group.start(reapSessions(deps), Math.min(1_000, config.leaseTtlMs / 4))
  group.start(reapNodes(deps), config.nodeTtlMs / 12)
  const leases = group.start(checkOwnLeases(deps), config.leaseTtlMs / 2)
  group.start(watchCancels(deps), 1_000)
  return leases
}

/** Checks blocked runs again. */
function startRecheck(group: LoopGroup, { store, signals, workflows, onError }: LoopDeps): void {
  const { receiveSignals } = workflows
  group.start(createRecheckStep({ store, signals, receiveSignals, onError }), 1_000)
}

/** Keeps the hints about lanes and the settings of queues up to date. */
function startLaneLoops(
  group: LoopGroup,
  deps: LoopDeps,
): { readonly lanes: Loop; readonly rateLimits: Loop } {
  const { clock, config, laneIndex, sessionIndex } = deps
  const { kick } = deps.ticker
  const hasWorkers = () => sessionIndex.sessions.size > 0
  const lanesStep = refreshLanes({ refresh: deps.refreshLanes, hasWorkers, kick })
  const lanes = group.start(lanesStep, config.laneRefreshMs)
  group.start(deps.refreshQueues, config.laneRefreshMs)
  const rateLimits = group.start(wakeLanes({ laneIndex, clock, kick }), MAX_LIMIT_WAIT_MS)
  return { lanes, rateLimits }
}

/** Records what this node has seen: tokens, workers, keys, and the delay of its own loops. */
function startRecords(group: LoopGroup, deps: LoopDeps): void {
  group.start(noteUses(deps), 30_000)
  group.start(noteLastSeen(deps), LAST_SEEN_PERIOD_MS)
  group.start(createAnnounceKeysStep(deps), KEYS_PERIOD_MS)
  group.start(measureLag(deps), LAG_PERIOD_MS)
}

/** Measures how late this loop runs, caused by other work on the thread of the node. */
function measureLag({ clock, metrics }: Pick<LoopDeps, 'clock' | 'metrics'>): LoopStep {
  let lastMono: number | undefined
  return async () => {
    const mono = clock.mono()
    if (lastMono !== undefined) metrics.onLoopLag(Math.max(0, mono - lastMono - LAG_PERIOD_MS))
    lastMono = mono
    return { more: false }
  }
}

/** Deletes old rows and blobs without a row, while the clock can be trusted. */
function startDeletion(group: LoopGroup, deps: LoopDeps): void {
  const { store } = deps
  const { storeNow } = deps.membership
  const { mayDelete, isClockOff } = deps.storeClock
  const { keepMs } = deps.config
  group.start(onlyWhile(mayDelete, pruneRuns({ store, storeNow, keepMs })), 60_000)
  group.start(onlyWhile(mayDelete, forgetOccurrences({ store, storeNow, keepMs })), 60_000)
  group.start(onlyWhile(mayDelete, createExpireTokensStep({ store })), 60_000)
  group.start(runMaintenance({ store, mayDelete, isClockOff }), 60_000)
  group.start(onlyWhile(mayDelete, collectBlobs(deps.collecting)), 60_000)
}

/** Stores the trusted time. */
function startClockNotes(group: LoopGroup, { store, storeClock, rewinding }: LoopDeps): Loop {
  const step = noteClock({ store, storeClock, isRewinding: rewinding.isPending })
  return group.start(step, NOTE_CLOCK_MS)
}

/** Checks the store, and at once when it fails. */
function startHealthChecks(group: LoopGroup, { health }: LoopDeps): void {
  const checks = group.start(health.step, 60_000)
  health.onFailure(checks.wake)
}
