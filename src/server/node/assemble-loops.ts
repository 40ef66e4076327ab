import { startLoops, type Loops } from './start-loops.ts'
import type { NodeParts } from './node-parts.ts'
import type { NodeOptions } from './node-options.ts'

/** Starts the loops that do the periodic work of every subsystem. */
export function assembleLoops({ clock, config }: NodeOptions, parts: NodeParts): Loops {
  const { access, dispatch, runs, workers, workflows, schedules, metrics, signals } = parts
  const { store, membership } = access
  return startLoops({
    store,
    clock,
    config,
    membership,
    storeClock: access.storeClock,
    health: access.health,
    vault: access.vault,
    definitions: access.definitions,
    laneIndex: dispatch.laneIndex,
    ticker: dispatch.ticker,
    undelivered: dispatch.undelivered,
    end: dispatch.attempts.end,
    giveBack: dispatch.attempts.giveBack,
    isEnding: dispatch.attempts.isEnding,
    refreshLanes: dispatch.refreshLanes,
    refreshQueues: dispatch.refreshQueues,
    sessionIndex: workers.sessionIndex,
    workflows: workflows.engine,
    followUps: workflows.followUps,
    firing: schedules.firing,
    rewinding: schedules.rewinding,
    backfill: schedules.backfill,
    violationDetector: schedules.violationDetector,
    collecting: {
      blobs: runs.blobs,
      store,
      random: runs.payloadOptions.random,
      area: runs.payloadOptions.area,
      orphanMs: runs.payloadOptions.orphanMs,
      aheadMs: () => clock.now() - membership.storeNow(),
      onCollected: metrics.onCollected,
    },
    authenticator: parts.authenticator,
    metrics,
    rejoin: () => rejoin(parts),
    signals,
    onError: access.onError,
  })
}

/**
 * Joins again after the node was declared dead: everything in memory belongs to the old
 * incarnation.
 */
async function rejoin({
  workers,
  dispatch,
  schedules,
  workflows,
  events,
}: NodeParts): Promise<void> {
  const { sessionIndex, missingKeyGuard } = workers
  for (const session of sessionIndex.sessions.values()) session.pending?.settle()
  sessionIndex.clear()
  await missingKeyGuard.end().finally(() => {
    dispatch.laneIndex.forgetHints()
    schedules.firing.forget()
    workflows.engine.forget()
    events.feed.buffer.reset('this node was away')
  })
}
