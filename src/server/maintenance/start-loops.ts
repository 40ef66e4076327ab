import type { Clock } from '../../core/clock.ts'
import type { Report } from '../../core/run/end-attempt.ts'
import type { Lease, Store } from '../../store/port.ts'
import type { NodeConfig } from '../cluster/config.ts'
import type { Definitions } from '../definitions/definitions.ts'
import type { Membership } from '../cluster/membership.ts'
import type { Roster } from '../sessions/session-index.ts'
import type { LaneBoard } from '../dispatch/lane-index.ts'
import type { Vault } from '../secrets/vault.ts'
import type { Ticker } from '../dispatch/ticker.ts'
import type { Undelivered } from '../runs/undelivered-grants.ts'
import type { Authenticator } from '../identity/authenticator.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Flows } from '../workflows/workflow-engine.ts'
import { type Following, LOOK_MS } from '../runs/follow-ups/follow-ups.ts'
import type { Firing } from '../schedules/firing.ts'
import type { Lookout } from '../expectations/violation-detector.ts'
import { lookAtLanes } from './refresh-lanes.ts'
import { collectBlobs, type Collecting } from './collect-blobs.ts'
import { announceKeys } from '../loops/announce-keys.ts'
import { measureLag } from '../metrics/measure-lag.ts'
import { noteSightings } from './note-last-seen.ts'
import { noteUses } from '../loops/note-uses.ts'
import { checkOwnLeases } from './own-leases.ts'
import { promote } from './promote.ts'
import { reapNodes, reapSessions } from './reap.ts'
import { recheck } from '../dispatch/recheck.ts'
import { startLoop, type Loop, type Step } from '../loops/run-loop.ts'
import { forgetOccurrences, maintain, retain } from './maintenance.ts'
import { wakeLanes } from '../loops/wake-lanes.ts'
import { watchCancels } from './watch-cancels.ts'

export interface LoopDeps {
  readonly store: Store
  readonly clock: Clock
  readonly config: NodeConfig
  readonly roster: Roster
  readonly board: LaneBoard
  readonly ticker: Ticker
  readonly membership: Membership
  readonly vault: Vault
  readonly undelivered: Undelivered
  readonly definitions: Pick<Definitions, 'learn' | 'workOf'>
  end(leases: readonly Lease[], report: Report, owner: number | null): Promise<void>
  giveBack(leases: readonly Lease[]): void
  /** An ending of this lease is on its way to the store already. */
  isEnding(lease: Lease): boolean
  rejoin(): Promise<void>
  /** Finds out which lanes have work. */
  look(): Promise<void>
  readonly refreshQueues: Step
  readonly authenticator: Pick<Authenticator, 'takeUses'>
  readonly metrics: Pick<Metrics, 'onLoopLag' | 'onScheduleLag'>
  readonly collecting: Collecting
  readonly firing: Pick<Firing, 'step'>
  readonly backfill: Step
  readonly lookout: Pick<Lookout, 'step'>
  readonly flows: Pick<Flows, 'step' | 'hear'>
  readonly following: Following
  onError(error: unknown): void
}

export interface Loops {
  /** A timer was written that may be due before the promoter meant to wake. */
  wakeTimers(dueAt: number): void
  /** A queue has used up its rate for a while. */
  wakeNaps(): void
  /** A schedule may be due, or was changed. */
  wakeSchedules(): void
  /** A flow may begin, or go on. */
  wakeFlows(): void
  /** Jobs are to run after something that ended. */
  wakeFollowing(): void
  /** Somebody asked for a backfill. */
  wakeBackfills(): void
  /** It matters now which lanes have work. */
  lookAtLanes(): void
  /** Something may be leased to this node that nobody holds. */
  checkLeases(): void
  stop(): Promise<void>
}

const LAG_PERIOD_MS = 5_000
const SIGHTINGS_PERIOD_MS = 5_000
/** How soon a key that was added to a file is known here. */
const KEYS_PERIOD_MS = 5_000
/** Nobody naps: nothing to do. Whoever puts a lane to sleep rings. */
const LONGEST_NAP_MS = 60_000

/** Every duty of a node, each a bounded step on the one shared loop. */
export function startLoops(deps: LoopDeps): Loops {
  const { store, clock, config, board, ticker, membership } = deps
  const stopping = new AbortController()
  const { signal } = stopping
  const loops: Loop[] = []
  const start = (step: Step, idleMs: number): Loop => {
    const loop = startLoop(step, { clock, signal, idleMs, onError: deps.onError })
    loops.push(loop)
    return loop
  }
  const onReady = (lanes: readonly number[]) => {
    for (const lane of lanes) board.entered(lane, null)
    ticker.kick()
  }
  const { storeNow, mintId } = membership

  const beat = async () => {
    if (!(await membership.beat())) await deps.rejoin()
    return { more: false }
  }
  start(beat, config.nodeBeatMs)
  const { onLoopLag, onScheduleLag } = deps.metrics
  const timers = start(promote({ store, mintId, storeNow, onReady, onLag: onScheduleLag }), 1_000)
  const wakeTimers = (dueAt: number) => {
    if (dueAt - storeNow() < 1_000) timers.wake()
  }
  const schedules = start(deps.firing.step, 1_000)
  const backfills = start(deps.backfill, 1_000)
  start(deps.lookout.step, 1_000)
  start(reapSessions(deps), Math.min(1_000, config.leaseTtlMs / 4))
  start(reapNodes(deps), config.nodeTtlMs / 12)
  const leases = start(checkOwnLeases(deps), config.leaseTtlMs / 2)
  start(watchCancels(deps), 1_000)
  const flows = start(deps.flows.step, 1_000)
  const following = start(deps.following.step, LOOK_MS)
  const { onError } = deps
  start(recheck({ store, onReady, onTimer: wakeTimers, onNews: deps.flows.hear, onError }), 1_000)
  const hasWorkers = () => deps.roster.sessions.size > 0
  const looking = lookAtLanes({ look: deps.look, hasWorkers, kick: ticker.kick })
  const lanes = start(looking, config.laneRefreshMs)
  start(deps.refreshQueues, config.laneRefreshMs)
  const naps = start(wakeLanes({ board, clock, kick: ticker.kick }), LONGEST_NAP_MS)
  start(noteUses(deps), 30_000)
  start(noteSightings(deps), SIGHTINGS_PERIOD_MS)
  start(announceKeys(deps), KEYS_PERIOD_MS)
  start(measureLag({ clock, periodMs: LAG_PERIOD_MS, onLag: onLoopLag }), LAG_PERIOD_MS)
  start(retain({ store, storeNow, keepMs: config.keepMs }), 60_000)
  start(forgetOccurrences({ store, storeNow, keepMs: config.keepMs }), 60_000)
  start(maintain({ store }), 60_000)
  start(collectBlobs(deps.collecting), 60_000)

  return {
    wakeTimers,
    wakeFlows: () => flows.wake(),
    wakeFollowing: () => following.wake(),
    wakeNaps: () => naps.wake(),
    wakeSchedules: () => schedules.wake(),
    wakeBackfills: () => backfills.wake(),
    checkLeases: () => leases.wake(),
    lookAtLanes: () => lanes.wake(),
    async stop() {
      stopping.abort()
      await Promise.allSettled(loops.map((loop) => loop.done))
    },
  }
}
