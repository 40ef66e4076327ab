import type { Clock } from '../../core/clock.ts'
import type { AttemptReport } from '../../core/run/end-attempt.ts'
import type { Lease, Store } from '../../store/port.ts'
import type { NodeConfig } from '../cluster/config.ts'
import type { Definitions } from '../definitions/definitions.ts'
import type { Membership } from '../cluster/membership.ts'
import type { SessionIndex } from '../sessions/session-index.ts'
import type { StoreClock } from '../cluster/store-clock.ts'
import type { LaneIndex } from '../dispatch/lane-index.ts'
import type { Vault } from '../secrets/vault.ts'
import type { Ticker } from '../dispatch/ticker.ts'
import type { UndeliveredGrants } from '../runs/undelivered-grants.ts'
import type { Authenticator } from '../identity/authenticator.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { WorkflowEngine } from '../workflows/workflow-engine.ts'
import { type FollowUps, FOLLOW_UP_PERIOD_MS } from '../runs/follow-ups/follow-ups.ts'
import type { StoreHealth } from '../health/store-health.ts'
import type { Firing } from '../schedules/firing.ts'
import type { ScheduleRewinder } from '../schedules/schedule-rewinder.ts'
import type { ViolationDetector } from '../expectations/violation-detector.ts'
import { refreshLanes, wakeLanes } from './refresh-lanes.ts'
import { collectBlobs, type CollectBlobsDeps } from './collect-blobs.ts'
import { NOTE_CLOCK_MS, noteClock } from './note-clock.ts'
import { measureLag } from '../metrics/measure-lag.ts'
import { noteLastSeen, noteUses } from './note-last-seen.ts'
import { checkOwnLeases } from './own-leases.ts'
import { createPromoteStep } from './promote.ts'
import { reapNodes, reapSessions } from './reap.ts'
import { createRecheckStep } from '../dispatch/recheck.ts'
import { startLoop, type Loop, type LoopStep, onlyWhile } from '../loops/run-loop.ts'
import {
  createExpireTokensStep,
  forgetOccurrences,
  runMaintenance,
  pruneRuns,
  createAnnounceKeysStep,
} from './maintenance.ts'
import { watchCancels } from './watch-cancels.ts'

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
  /** Looks up which lanes have work. */
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
  /** These lanes have work. */
  onReady(lanes: readonly number[]): void
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
  const { store, clock, config, laneIndex, ticker, membership } = deps
  const stopping = new AbortController()
  const { signal } = stopping
  const loops: Loop[] = []
  const start = (step: LoopStep, idleMs: number): Loop => {
    const loop = startLoop(step, { clock, signal, idleMs, onError: deps.onError })
    loops.push(loop)
    return loop
  }
  const { onReady } = deps
  const { storeNow, mintId } = membership

  const beat = async () => {
    if (!(await membership.renewRow())) await deps.rejoin()
    return { more: false }
  }
  start(beat, config.nodeHeartbeatMs)
  const { onLoopLag, onScheduleLag } = deps.metrics
  const { storeClock } = deps
  const { mayFire, isClockOff, mayDelete } = storeClock
  const timers = start(
    createPromoteStep({
      store,
      mintId,
      storeNow,
      mayFire,
      isClockOff,
      onReady,
      onLag: onScheduleLag,
    }),
    1_000,
  )
  const wakeTimers = (dueAt: number) => {
    if (dueAt - storeNow() < 1_000) timers.wake()
  }
  const schedules = start(deps.firing.step, 1_000)
  const backfills = start(deps.backfill, 1_000)
  start(onlyWhile(mayFire, deps.violationDetector.step), 1_000)
  start(reapSessions(deps), Math.min(1_000, config.leaseTtlMs / 4))
  start(reapNodes(deps), config.nodeTtlMs / 12)
  const leases = start(checkOwnLeases(deps), config.leaseTtlMs / 2)
  start(watchCancels(deps), 1_000)
  const workflows = start(deps.workflows.step, 1_000)
  const followUps = start(deps.followUps.step, FOLLOW_UP_PERIOD_MS)
  const { onError } = deps
  start(
    createRecheckStep({
      store,
      onReady,
      onTimer: wakeTimers,
      onSignals: deps.workflows.receiveSignals,
      onError,
    }),
    1_000,
  )
  const hasWorkers = () => deps.sessionIndex.sessions.size > 0
  const lanesStep = refreshLanes({ refresh: deps.refreshLanes, hasWorkers, kick: ticker.kick })
  const lanes = start(lanesStep, config.laneRefreshMs)
  start(deps.refreshQueues, config.laneRefreshMs)
  const rateLimits = start(wakeLanes({ laneIndex, clock, kick: ticker.kick }), MAX_LIMIT_WAIT_MS)
  start(noteUses(deps), 30_000)
  start(noteLastSeen(deps), LAST_SEEN_PERIOD_MS)
  start(createAnnounceKeysStep(deps), KEYS_PERIOD_MS)
  start(measureLag({ clock, periodMs: LAG_PERIOD_MS, onLag: onLoopLag }), LAG_PERIOD_MS)
  const { keepMs } = config
  start(onlyWhile(mayDelete, pruneRuns({ store, storeNow, keepMs })), 60_000)
  start(onlyWhile(mayDelete, forgetOccurrences({ store, storeNow, keepMs })), 60_000)
  start(onlyWhile(mayDelete, createExpireTokensStep({ store })), 60_000)
  start(runMaintenance({ store, mayDelete, isClockOff }), 60_000)
  start(onlyWhile(mayDelete, collectBlobs(deps.collecting)), 60_000)
  const noting = start(
    noteClock({ store, storeClock, isRewinding: deps.rewinding.isPending }),
    NOTE_CLOCK_MS,
  )
  const checks = start(deps.health.step, 60_000)
  deps.health.onFailure(() => checks.wake())

  return {
    wakeTimers,
    wakeWorkflows: () => workflows.wake(),
    wakeFollowUps: () => followUps.wake(),
    wakeLimitedLanes: () => rateLimits.wake(),
    wakeSchedules: () => schedules.wake(),
    wakeBackfills: () => backfills.wake(),
    checkLeases: () => leases.wake(),
    refreshLanes: () => lanes.wake(),
    wakeClock() {
      noting.wake()
      schedules.wake()
      timers.wake()
    },
    noteClock: () => noting.wake(),
    async stop() {
      stopping.abort()
      await Promise.allSettled(loops.map((loop) => loop.done))
    },
  }
}
