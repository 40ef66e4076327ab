import { createLaneIndex } from '../dispatch/lanes/lane-index.ts'
import { type Authenticator, createAuthenticator } from '../identity/authenticator.ts'
import { metricSources } from '../metrics/metric-sources.ts'
import { createMetrics } from '../metrics/metrics.ts'
import { createRuleCache } from '../schedules/rule-cache.ts'
import { createRecentOffers } from '../sessions/recent-offers.ts'
import type { NodeSignals } from '../signals/signals.ts'
import { createSessionIndex } from '../sessions/session-index.ts'
import { assembleApi, type NodeApi } from './assemble-api.ts'
import { assembleDispatch, type Dispatch } from './assemble-dispatch.ts'
import { assembleEvents } from './assemble-events.ts'
import { assembleLoops } from './assemble-loops.ts'
import { assembleRuns } from './assemble-runs.ts'
import { assembleSchedules } from './assemble-schedules.ts'
import { assembleStoreAccess, type StoreAccess } from './assemble-store-access.ts'
import { assembleWebhooks, type Webhooks } from './assemble-webhooks.ts'
import { assembleWorkers, type WorkerSessions } from './assemble-workers.ts'
import { assembleWorkflows } from './assemble-workflows.ts'
import type { NodeOptions, SchedulerNode } from './node-options.ts'
import type { NodeParts } from './node-parts.ts'
import type { Loops } from './start-loops.ts'
import { createNodeSignals } from './node-signals.ts'
import { createReady } from '../health/readiness.ts'

export type { NodeOptions, SchedulerNode } from './node-options.ts'

/**
 * Assembles a node and joins the cluster. Each subsystem has a file `assemble-….ts`; what it
 * reports to subsystems that are created after it goes through `node-signals.ts`.
 */
export async function startNode(options: NodeOptions): Promise<SchedulerNode> {
  const { clock } = options
  const signals = createNodeSignals()
  const laneIndex = createLaneIndex(signals)
  const sessionIndex = createSessionIndex({ onRemove: signals.sessionRemoved })
  const recentOffers = createRecentOffers({ clock, sessionIndex })
  const rules = createRuleCache(options.readRule)

  const access = await assembleStoreAccess(options, { laneIndex, signals })
  const { membership, storeClock, health, store, catalog } = access
  const version = options.version ?? 'unknown'
  const metrics = createMetrics(
    metricSources({ store, sessionIndex, laneIndex, catalog, health, storeClock, version }),
  )
  const authenticator = assembleAuthenticator(options, access, signals)
  const dispatch = assembleDispatch(options, { access, sessionIndex, laneIndex, metrics, signals })
  const runs = assembleRuns(options, { access, sessionIndex, recentOffers, metrics, signals })
  const workers = assembleWorkers(options, { access, dispatch, runs, sessionIndex })
  const workflows = assembleWorkflows(options, { access, dispatch, runs, rules, signals })
  const schedules = assembleSchedules(options, { access, dispatch, runs, rules, metrics, signals })
  signals.connect({
    metrics,
    membership,
    laneIndex,
    ticker: dispatch.ticker,
    undelivered: dispatch.undelivered,
    attempts: dispatch.attempts,
    recentOffers,
    registry: workers.registry,
    watch: runs.watch,
    workflows: workflows.engine,
    firing: schedules.firing,
    rewinding: schedules.rewinding,
    violationDetector: schedules.violationDetector,
  })

  await join(access, dispatch)
  const events = assembleEvents(options, { access, runs })
  const webhooks = assembleWebhooks(options, { access, runs, metrics })
  const parts: NodeParts = {
    access,
    dispatch,
    runs,
    workers,
    workflows,
    schedules,
    events,
    webhooks,
    rules,
    authenticator,
    metrics,
    signals,
  }
  const loops = assembleLoops(options, parts)
  signals.connectJoined({ loops, events })
  const api = assembleApi(options, parts)

  return schedulerNode(options, parts, { api, loops })
}

/** What the rest of the program sees of the node. */
function schedulerNode(
  options: NodeOptions,
  parts: NodeParts,
  { api, loops }: { readonly api: NodeApi; readonly loops: Loops },
): SchedulerNode {
  const { access, dispatch, workers, webhooks, authenticator, metrics } = parts
  return {
    get id() {
      return access.membership.node
    },
    clientFor: api.clientFor,
    workingFor: api.workingFor,
    admin: api.admin,
    compat: api.compat,
    authenticator,
    metrics,
    formerSessions: workers.formerSessions,
    ready: createReady({
      clock: options.clock,
      health: access.health,
      storeClock: access.storeClock,
      mayPromise: access.membership.mayPromise,
      whyAbsent: workers.missingKeyGuard.reason,
    }),
    storeFailed: access.health.note,
    stop: () => stop(options, { access, dispatch, workers, webhooks, loops }),
  }
}

function assembleAuthenticator(
  { clock, rootToken, isRootStored }: NodeOptions,
  { store, membership, storeClock }: StoreAccess,
  signals: NodeSignals,
): Authenticator {
  return createAuthenticator({
    store,
    clock,
    storeNow: membership.storeNow,
    rootToken,
    isRootStored,
    mayExpire: storeClock.mayDelete,
    onDead: signals.tokenEnded,
  })
}

/** Takes a place in the cluster, and reads what the node has to know before it does anything. */
async function join(
  { store, membership, vault, queueSettings }: StoreAccess,
  { laneIndex }: Dispatch,
): Promise<void> {
  await membership.join()
  await vault.announce(membership.node)
  laneIndex.learn(await store.lanesAfter(0))
  await queueSettings.refresh()
  laneIndex.applyRules(queueSettings.rulesOf)
}

async function stop(
  { clock, config }: NodeOptions,
  parts: {
    readonly access: StoreAccess
    readonly dispatch: Dispatch
    readonly workers: WorkerSessions
    readonly webhooks: Webhooks
    readonly loops: Loops
  },
): Promise<void> {
  const { access, dispatch, webhooks, loops } = parts
  const { sessionIndex } = parts.workers
  await Promise.all([loops.stop(), webhooks.delivery.stop()])
  for (const session of sessionIndex.sessions.values()) session.pending?.settle()
  // A pending timer would keep the process alive.
  const isOver = new AbortController()
  await Promise.race([
    dispatch.giveBackScheduled(),
    clock.sleep(config.storeTimeoutMs, isOver.signal),
  ])
  isOver.abort()
  await dispatch.ticker.settled()
  sessionIndex.clear()
  await access.membership.leave().catch(access.onError)
}
