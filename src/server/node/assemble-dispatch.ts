import type { Lease } from '../../store/port.ts'
import { createAssignmentSubsystem } from '../dispatch/assignment-subsystem.ts'
import type { AssignDirectly } from '../dispatch/direct-assignment.ts'
import type { LaneIndex } from '../dispatch/lanes/lane-index.ts'
import { createTicker, type Ticker } from '../dispatch/ticker.ts'
import { createLaneRefresh } from '../maintenance/refresh-lanes.ts'
import { refreshQueues } from '../maintenance/refresh-queues.ts'
import type { LoopStep } from '../loops/run-loop.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { createAttemptEnder, type AttemptEnder } from '../runs/attempt-ender.ts'
import { createUndeliveredGrants, type UndeliveredGrants } from '../runs/undelivered-grants.ts'
import type { SessionIndex } from '../sessions/session-index.ts'
import type { StoreAccess } from './assemble-store-access.ts'
import type { NodeOptions } from './node-options.ts'
import type { NodeSignals } from '../signals/signals.ts'

/** Brings runs to workers: the tick, and assignment of runs that other transactions write. */
export interface Dispatch {
  readonly laneIndex: LaneIndex
  readonly ticker: Ticker
  readonly attempts: AttemptEnder
  readonly undelivered: UndeliveredGrants
  readonly assignDirectly: AssignDirectly
  /** The node stops: returns assignments whose time has not come. */
  giveBackScheduled(): Promise<void>
  /** Returns leases uncounted. Resolves when that is durable. */
  returnLeases(leases: readonly Lease[]): Promise<void>
  /** Looks up which lanes have work. */
  refreshLanes(): Promise<void>
  /** Applies queue settings made on any node. */
  readonly refreshQueues: LoopStep
}

export function assembleDispatch(
  { clock, random, config }: NodeOptions,
  {
    access,
    sessionIndex,
    laneIndex,
    metrics,
    signals,
  }: {
    readonly access: StoreAccess
    readonly sessionIndex: SessionIndex
    readonly laneIndex: LaneIndex
    readonly metrics: Metrics
    readonly signals: NodeSignals
  },
): Dispatch {
  const { store, membership, queueSettings, node, onError } = access
  const ticker = createTicker({
    store,
    clock,
    random,
    sessionIndex,
    laneIndex,
    maxPending: config.maxPending,
    patienceMs: config.storeTimeoutMs,
    node,
    mayGrant: membership.mayPromise,
    mintId: membership.mintId,
    signals,
    onGrant: metrics.onGrant,
    onError,
  })
  const attempts = createAttemptEnder({ ticker, mintId: membership.mintId, onError })
  const returnLeases = (leases: readonly Lease[]) =>
    attempts.end(leases, { kind: 'given_back' }, null)
  const { assignDirectly, giveBackScheduled } = createAssignmentSubsystem({
    sessionIndex,
    laneIndex,
    clock,
    random,
    node,
    mayGrant: membership.mayPromise,
    giveBack: returnLeases,
    onGrant: metrics.onGrant,
    signals,
    onError,
  })
  return {
    laneIndex,
    ticker,
    attempts,
    undelivered: createUndeliveredGrants(),
    assignDirectly,
    giveBackScheduled,
    returnLeases,
    refreshLanes: createLaneRefresh({ store, laneIndex }),
    refreshQueues: refreshQueues({ queueSettings, laneIndex, kick: ticker.kick }),
  }
}
