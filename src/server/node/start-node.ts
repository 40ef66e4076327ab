import type { Blobs } from '../../blobs/port.ts'
import type { Clock, Random } from '../../core/clock.ts'
import { publicId } from '../../core/ids.ts'
import type { SchedulerClient, SubmitAnswer } from '../../core/wire/protocol.ts'
import { writeProgress } from '../../core/wire/runs.ts'
import type { Lease, Store, TickBatch } from '../../store/port.ts'
import { type Administration, createAdministration } from '../admin/administration.ts'
import { createCatalog } from '../catalog/catalog-cache.ts'
import { createPlain, type Plain } from '../compat/compat-api.ts'
import type { NodeConfig } from '../cluster/config.ts'
import { createDefinitions } from '../definitions/definitions.ts'
import { createFlowing } from '../flowing.ts'
import { type Authenticator, createAuthenticator } from '../identity/authenticator.ts'
import { assignmentOf, createLocalClient, type ClientParts } from './local-client.ts'
import { createLook } from '../maintenance/refresh-lanes.ts'
import { refreshQueues } from '../maintenance/refresh-queues.ts'
import { startLoops } from '../maintenance/start-loops.ts'
import { createLogWriter } from '../logs/log-writer.ts'
import { createMetrics, type Metrics } from '../metrics/metrics.ts'
import { metricSources } from '../metrics/metric-sources.ts'
import { createMembership } from '../cluster/membership.ts'
import { createOwnEndings } from '../runs/attempt-ender.ts'
import { createProgressBoard } from '../runs/progress-table.ts'
import { createQueueBook } from '../dispatch/queue-settings-cache.ts'
import { createGrantedInputs } from '../payloads/granted-inputs.ts'
import { measured } from '../payloads/measure-blobs.ts'
import { createPayloads } from '../payloads/payloads.ts'
import { createReady, type Readiness } from '../health/readiness.ts'
import { createScheduling } from '../scheduling.ts'
import { createRuleBook, type ReadRule } from '../schedules/rule-cache.ts'
import { createRegistry } from '../workers/session-registry.ts'
import { createRoster } from '../sessions/session-index.ts'
import { createAbsence } from '../secrets/missing-key-guard.ts'
import { createUnlock } from '../secrets/unlock.ts'
import { NO_VAULT, type Vault } from '../secrets/vault.ts'
import { createDraft } from '../runs/draft-runs.ts'
import { createReplay } from '../runs/retries/replay-run.ts'
import { createHandingOver } from '../dispatch/assignment-subsystem.ts'
import { createLaneBoard } from '../dispatch/lane-index.ts'
import { createTicker } from '../dispatch/ticker.ts'
import { createUndelivered } from '../runs/undelivered-grants.ts'
import { createFeed } from '../events/feed.ts'
import { changedBy, createNewsReader } from '../events/run-changes.ts'
import { createWatch } from '../runs/watch.ts'
import { createSealer } from '../webhooks/sealer.ts'
import { startTelling, type TellingOptions } from '../webhooks/webhook-delivery.ts'

export interface NodeOptions {
  readonly store: Store
  /** Where inputs and results are kept that are too large for a row. */
  readonly blobs: Blobs
  readonly clock: Clock
  readonly random: Random
  readonly config: NodeConfig
  /** The token of this installation; without one, nobody is let in but by tokens in the store. */
  readonly rootToken?: string | undefined
  /** What opens secrets; without one there are none. */
  readonly vault?: Vault | undefined
  /** Of this program. */
  readonly version?: string | undefined
  /** How the rules of schedules are understood, if not as the core does. */
  readonly readRule?: ReadRule | undefined
  /** Where local times of schedules are local to, unless they say; UTC if absent. */
  readonly zone?: string | undefined
  /** How webhooks are told; a node without this leaves it to others. */
  readonly telling?: TellingOptions | undefined
  /** What went wrong and was survived. */
  onError?(error: unknown): void
}

/** One server process: any number of them on one store make the scheduler. */
export interface SchedulerNode {
  /** The scheduler as one project sees it; `actor` is the token that acts, null for nobody's. */
  clientFor(project: string, actor?: number | null): SchedulerClient
  readonly admin: Administration
  /** What the plain paths of older protocols need. */
  readonly plain: Plain
  readonly authenticator: Authenticator
  readonly metrics: Metrics
  /** Whether the store answers and this node may promise work. */
  ready(): Promise<Readiness>
  /** Gives its place back; workers move on with their leases, which any other node adopts. */
  stop(): Promise<void>
  readonly id: number
}

export async function startNode(options: NodeOptions): Promise<SchedulerNode> {
  const { store, clock, random, config, vault = NO_VAULT } = options
  const onError = options.onError ?? (() => {})
  const roster = createRoster()
  const board = createLaneBoard((laneId) => flows.ready(laneId))
  const onReady = (lanes: readonly number[]) => {
    for (const lane of lanes) board.entered(lane, null)
    ticker.kick()
  }
  const catalog = createCatalog(store, board, {
    onReady,
    onNewLanes: () => loops.lookAtLanes(),
  })
  const membership = createMembership({ store, clock, random, config })
  const { mintId, storeNow } = membership
  const undelivered = createUndelivered()
  const watch = createWatch(clock)
  const version = options.version ?? 'unknown'
  const metrics = createMetrics(metricSources({ store, roster, board, catalog, version }))
  const queueBook = createQueueBook(store, catalog)
  const definitions = createDefinitions({ store, clock, believedMs: config.laneRefreshMs })
  const authenticator = createAuthenticator({ store, clock, rootToken: options.rootToken })

  const onUnknown = (batch: Pick<TickBatch, 'submits' | 'claims'>) => {
    undelivered.remember(batch)
    loops.checkLeases()
  }
  const ticker = createTicker({
    store,
    clock,
    random,
    roster,
    board,
    maxPending: config.maxPending,
    patienceMs: config.patienceMs,
    node: () => membership.node,
    mayGrant: membership.mayPromise,
    mintId,
    giveBack: (lease) => giveBack([lease]),
    onTimer: (dueAt) => loops.wakeTimers(dueAt),
    onLimited: () => loops.wakeNaps(),
    onUnsure: () => loops.lookAtLanes(),
    onUnknown,
    onError,
    onEnd(lease, command, now) {
      metrics.onEnd(lease, command, now)
      // Only runs that had a time may be of a schedule, and only then may another follow them.
      if (lease.dueAt === null || command.to === 'given_back' || command.to === 'retry') return
      firing.ended(lease.runId)
      lookout.ended(lease.runId)
    },
    onGrant: metrics.onGrant,
    onTick(batch, result, tookMs) {
      metrics.onTick(batch, result, tookMs)
      for (const { runId } of batch.ends) watch.touched(runId)
      for (const { runId } of batch.cancels) watch.touched(runId)
      for (const { runId } of batch.cancels) firing.ended(runId)
      flows.hear(result.news)
      feed.touched(changedBy(batch, result))
    },
  })

  const { end, giveBack, lose, isEnding } = createOwnEndings({ ticker, mintId, onError })

  const look = createLook({ store, board })
  const registry = createRegistry({
    ...{ clock, random, config, store, membership, roster, giveBack, lose, look, onError },
  })

  const blobs = measured(options.blobs, { clock, onBlob: metrics.onBlob })
  const keeping = {
    ...{ blobs, clock, random, area: await store.identity() },
    ...{ inlineBytes: config.inlineBytes, orphanMs: config.orphanBlobMs },
  }
  const payloads = createPayloads(keeping)
  /** Nobody can start it as it is: another attempt would fail the same way. */
  const fail = (lease: Lease, message: string) => {
    const report = { kind: 'failed', cause: 'start_error', retriable: false } as const
    end([lease], report, null, message).catch(onError)
  }
  const giveBackSurely = (leases: readonly Lease[]) => end(leases, { kind: 'given_back' }, null)
  const absence = createAbsence({ vault, membership, onError, giveBack: giveBackSurely })
  const inputsOf = createGrantedInputs({ payloads, onError, isEnding, fail })

  const progress = createProgressBoard({
    leaseOf: roster.leaseOf,
    mono: clock.mono,
    storeNow,
    onProgress: ({ runId, projectId, jobId }, said) =>
      feed.progress(() => ({
        project: catalog.projectName(projectId),
        job: catalog.jobName(jobId),
        data: { id: publicId('run', runId), progress: writeProgress(said) },
      })),
  })

  const zone = options.zone ?? 'UTC'
  const rules = createRuleBook(options.readRule)
  const drafting = { catalog, queues: queueBook, store, zone, mintId, storeNow }
  const draft = createDraft({ ...drafting, definitions })
  const { handOver, giveBackHeld } = createHandingOver({
    ...{ roster, board, clock, random, onGrant: metrics.onGrant, onError },
    node: () => membership.node,
    mayGrant: membership.mayPromise,
    giveBack: giveBackSurely,
    onUnknown: (runs) => onUnknown({ submits: runs, claims: [] }),
  })
  const duties = {
    ...{ store, storeNow, catalog, definitions, draft, handOver, onReady, onError },
    node: () => membership.node,
    onRuns(runIds: readonly number[]) {
      for (const runId of runIds) watch.touched(runId)
      feed.touched(runIds)
    },
  }
  const { flows, following, ...flowing } = createFlowing({
    ...{ ...duties, clock, board, payloads, rules, zone, cancel: ticker.cancel },
    mayMove: membership.mayPromise,
    onTimer: (dueAt) => loops.wakeTimers(dueAt),
    onEnded: (runId) => firing.ended(runId),
    wake: () => loops.wakeFlows(),
    onFollowed: () => loops.wakeFollowing(),
  })
  const { firing, backfill, lookout } = createScheduling({
    ...{ ...duties, mintId, rules, mono: clock.mono },
    mayFire: membership.mayPromise,
    wake: () => loops.wakeSchedules(),
    onOutcomes: metrics.onOccurrences,
    onLag: metrics.onScheduleLag,
    onLapses: metrics.onLapses,
  })

  const laneOf = ({ laneId }: Lease) => board.get(laneId)?.lane
  const parts: ClientParts = {
    ...{ store, ticker, catalog, registry, mintId, storeNow, payloads },
    node: () => membership.node,
    logWriter: createLogWriter(store),
    progress,
    onLog: watch.touched,
    draft,
    ...{ ...flowing, replay: createReplay({ ...drafting, ...flowing }) },
    exchanging: {
      clock,
      roster,
      ticker,
      store,
      mintId,
      weightOf: (lease) => laneOf(lease)?.weight ?? 1,
      maxPollMs: config.maxPollMs,
      async prepare(leases) {
        await definitions.learn(leases)
        await catalog.learnNames(
          leases.map((lease) => lease.jobId),
          leases.map((lease) => lease.projectId),
        )
      },
      payloads,
      inputsOf,
      unlock: createUnlock({ vault, isEnding, fail, stepAside: absence.begin }),
      assignment(lease, { input, secrets }) {
        const work = definitions.workOf(lease)
        return assignmentOf(lease, { catalog, lane: laneOf(lease), work, input, secrets })
      },
    },
  }

  /** Declared dead while it was away: everything it remembers belongs to the old incarnation. */
  const rejoin = async () => {
    for (const session of roster.sessions.values()) session.pending?.settle()
    roster.clear()
    await absence.end().finally(() => {
      board.doubt()
      firing.forget()
      flows.forget()
      feed.news.reset('this node was away')
    })
  }

  await membership.join()
  await vault.announce(membership.node)
  const feed = createFeed({
    clock,
    epoch: String(membership.node),
    read: createNewsReader({ store, catalog, progress }),
    countNodes: store.countNodes,
    onError,
  })
  board.learn(await store.lanesAfter(0))
  await queueBook.refresh()
  board.follow(queueBook.rulesOf)
  const sealer = createSealer(vault, store)
  const telling = startTelling(options.telling, {
    ...{ store, clock, random, catalog, sealer, mintId, storeNow, onError },
    onOutcome: metrics.onDelivery,
  })
  const refresh = refreshQueues({ book: queueBook, board, kick: ticker.kick })
  const loops = startLoops({
    ...{ store, clock, config, roster, board, ticker, membership, vault, definitions },
    ...{
      end,
      giveBack,
      undelivered,
      rejoin,
      look,
      refreshQueues: refresh,
      authenticator,
      metrics,
      onError,
    },
    collecting: { ...keeping, store, onCollected: metrics.onCollected },
    ...{ firing, backfill, lookout, flows, following, isEnding },
  })

  const admin = createAdministration({
    ...{ store, catalog, definitions, board, queueBook, watch, clock, feed, vault, storeNow },
    ...{ keeping, progress, mintId, mayPromise: membership.mayPromise },
    ...{ sealer, messages: telling.messages, onDelivery: telling.wake, rules },
    ...{ ...flowing, askFlow: flows.ask, zone },
    async submit({ project, actor }, submission) {
      const [answer] = await createLocalClient(project, actor, parts).submit([submission])
      return answer as SubmitAnswer
    },
    async check({ project, actor }, submission) {
      await parts.draft([submission], project, actor)
    },
    onScheduleChange: firing.changed,
    onBackfill: () => loops.wakeBackfills(),
    onQueueChange: async () => void (await refresh()),
    onTokenChange: authenticator.forget,
  })
  const clientFor: SchedulerNode['clientFor'] = (project, actor = null) =>
    createLocalClient(project, actor, parts)
  const plain = createPlain({
    ...{ store, catalog, definitions, admin, roster, registry, exchanging: parts.exchanging },
    ...{ logging: parts, installation: keeping.area, ttlMs: config.plainTtlMs, clientFor },
    ...{ zone, mintId, storeNow },
  })

  return {
    get id() {
      return membership.node
    },
    clientFor,
    admin,
    plain,
    authenticator,
    metrics,

    ready: createReady({ store, mayPromise: membership.mayPromise, whyAway: absence.reason }),

    async stop() {
      await Promise.all([loops.stop(), telling.stop()])
      for (const session of roster.sessions.values()) session.pending?.settle()
      // A timer that nobody waits for any more would keep the process alive for as long.
      const isOver = new AbortController()
      await Promise.race([giveBackHeld(), clock.sleep(config.patienceMs, isOver.signal)])
      isOver.abort()
      await ticker.settled()
      roster.clear()
      await membership.leave().catch(onError)
    },
  }
}
