import type { SubmitAnswer } from '../../core/wire/protocol.ts'
import { type Administration, createAdministration } from '../admin/administration.ts'
import { type CompatApi, createCompatApi } from '../compat/compat-api.ts'
import { createReplay } from '../runs/retries/replay-run.ts'
import { createWorking } from '../workers/worker-protocol.ts'
import { type ClientParts, createLocalClient } from './local-client.ts'
import type { NodeParts } from './node-parts.ts'
import type { NodeOptions, SchedulerNode } from './node-options.ts'
import { payloadsForUsers } from '../payloads/payloads.ts'

/** What the HTTP routes of this node call. */
export interface NodeApi {
  readonly clientFor: SchedulerNode['clientFor']
  readonly workingFor: SchedulerNode['workingFor']
  readonly admin: Administration
  readonly compat: CompatApi
}

export function assembleApi(options: NodeOptions, parts: NodeParts): NodeApi {
  const client = clientParts(options, parts)
  const clientFor: SchedulerNode['clientFor'] = (project, actor = null) =>
    createLocalClient(project, actor, client)
  const admin = assembleAdministration(options, parts, client)
  const { access, runs, workers } = parts
  return {
    clientFor,
    workingFor: (origin) => createWorking(origin, client),
    admin,
    compat: createCompatApi({
      clock: options.clock,
      store: access.store,
      catalog: access.catalog,
      definitions: access.definitions,
      admin,
      sessionIndex: workers.sessionIndex,
      registry: workers.registry,
      exchanging: workers.exchanging,
      logging: workers.logging,
      installation: access.installation,
      ttlMs: options.config.compatTtlMs,
      zone: runs.zone,
      clientFor,
      mintId: access.membership.mintId,
      storeNow: access.membership.storeNow,
    }),
  }
}

function clientParts(
  { clock }: NodeOptions,
  { access, dispatch, runs, workers, workflows }: NodeParts,
): ClientParts {
  const { store, catalog, membership, node } = access
  const { mintId, storeNow, hasFutureIds } = membership
  const { timeFor } = workflows
  return {
    store,
    ticker: dispatch.ticker,
    catalog,
    clock,
    node,
    mintId,
    storeNow,
    hasFutureIds,
    draft: runs.draft,
    payloads: payloadsForUsers(runs.payloads),
    progress: runs.progress,
    creators: runs.creators,
    registry: workers.registry,
    exchanging: workers.exchanging,
    logging: workers.logging,
    workflowReader: workflows.reader,
    compiledWorkflows: workflows.compiled,
    timeFor,
    replay: createReplay({ ...runs.drafting, store, timeFor }),
  }
}

function assembleAdministration(
  { clock }: NodeOptions,
  parts: NodeParts,
  client: ClientParts,
): Administration {
  const { access, dispatch, runs, workers, workflows, webhooks, authenticator, signals } = parts
  const { membership } = access
  return createAdministration({
    store: access.store,
    catalog: access.catalog,
    definitions: access.definitions,
    queueSettings: access.queueSettings,
    storeClock: access.storeClock,
    health: access.health,
    vault: access.vault,
    clock,
    mintId: membership.mintId,
    storeNow: membership.storeNow,
    mayPromise: membership.mayPromise,
    laneIndex: dispatch.laneIndex,
    knownJobs: runs.knownJobs,
    watch: runs.watch,
    progress: runs.progress,
    keeping: runs.payloadOptions,
    zone: runs.zone,
    workerIds: workers.workerIds,
    formerSessions: workers.formerSessions,
    workflowReader: workflows.reader,
    compiledWorkflows: workflows.compiled,
    askWorkflow: workflows.engine.decide,
    rules: parts.rules,
    feed: parts.events.feed,
    sealer: webhooks.sealer,
    messages: webhooks.delivery.messages,
    onDelivery: webhooks.delivery.wake,
    onScheduleChange: parts.schedules.firing.changed,
    onBackfill: signals.backfillRequested,
    async onQueueChange() {
      await dispatch.refreshQueues()
    },
    onTokenChange(tokenId) {
      authenticator.forget()
      signals.tokenEnded(tokenId)
    },
    async submit({ project, actor }, submission) {
      const [answer] = await createLocalClient(project, actor, client).submit([submission])
      return answer as SubmitAnswer
    },
    async check({ project, actor }, submission) {
      await runs.draft([submission], project, actor)
    },
  })
}
