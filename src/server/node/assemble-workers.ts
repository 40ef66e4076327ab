import type { Lease } from '../../store/port.ts'
import { createLogWriter } from '../logs/log-writer.ts'
import { createGrantedInputs } from '../payloads/granted-inputs.ts'
import { createMissingKeyGuard, type MissingKeyGuard } from '../secrets/missing-key-guard.ts'
import { createSecretUnlocker } from '../secrets/unlock.ts'
import type { ExchangeContext } from '../workers/exchange.ts'
import { createFormerSessions, type FormerSessions } from '../workers/former-sessions.ts'
import type { SessionIndex } from '../sessions/session-index.ts'
import { createSessionRegistry, type SessionRegistry } from '../workers/session-registry.ts'
import type { LogContext } from '../workers/store-logs.ts'
import { createWorkerIds, type WorkerIds } from '../workers/worker-ids.ts'
import type { Dispatch } from './assemble-dispatch.ts'
import type { Runs } from './assemble-runs.ts'
import type { StoreAccess } from './assemble-store-access.ts'
import type { NodeOptions } from './node-options.ts'

/** Sessions of workers, and what they exchange with this node. */
export interface WorkerSessions {
  readonly sessionIndex: SessionIndex
  readonly registry: SessionRegistry
  readonly exchanging: ExchangeContext
  readonly logging: LogContext
  readonly formerSessions: FormerSessions
  readonly workerIds: WorkerIds
  readonly missingKeyGuard: MissingKeyGuard
}

export function assembleWorkers(
  { clock, random, config }: NodeOptions,
  {
    access,
    dispatch,
    runs,
    sessionIndex,
  }: {
    readonly access: StoreAccess
    readonly dispatch: Dispatch
    readonly runs: Runs
    readonly sessionIndex: SessionIndex
  },
): WorkerSessions {
  const { store, catalog, definitions, membership, vault, onError } = access
  const { attempts, ticker, laneIndex, refreshLanes, returnLeases } = dispatch
  const { payloads, progress, watch } = runs
  const workerIds = createWorkerIds(access.installation)
  const missingKeyGuard = createMissingKeyGuard({
    vault,
    membership,
    onError,
    giveBack: returnLeases,
  })
  const laneOf = ({ laneId }: Lease) => laneIndex.get(laneId)?.lane
  /** The run cannot be started as it is: another attempt would fail in the same way. */
  const fail = (lease: Lease, message: string) => {
    const report = { kind: 'failed', cause: 'start_error', retriable: false } as const
    attempts.end([lease], report, null, message).catch(onError)
  }
  const { isEnding, giveBack } = attempts
  return {
    sessionIndex,
    workerIds,
    missingKeyGuard,
    registry: createSessionRegistry({
      clock,
      random,
      config,
      store,
      membership,
      sessionIndex,
      workerIds,
      refreshLanes,
      giveBack,
      lose: attempts.lose,
      onError,
    }),
    exchanging: {
      clock,
      sessionIndex,
      ticker,
      store,
      catalog,
      definitions,
      payloads,
      maxPollMs: config.maxPollMs,
      mintId: membership.mintId,
      inputs: createGrantedInputs({ payloads, onError, isEnding, fail }),
      secrets: createSecretUnlocker({ vault, isEnding, fail, leaveCluster: missingKeyGuard.begin }),
      laneIndex,
      attempts,
    },
    logging: { logWriter: createLogWriter(store), progress, watch },
    formerSessions: createFormerSessions({ store, laneOf, end: attempts.end }),
  }
}
