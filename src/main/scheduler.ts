import { hostname } from 'node:os'
import type { Clock, Random } from '../core/clock.ts'
import type { Logger } from '../core/logging/logger.ts'
import { zoneNames } from '../core/schedule/index.ts'
import type { SchedulerClient } from '../core/wire/protocol.ts'
import type { Api } from '../server/api/http/api.ts'
import { createApi } from '../server/api/create-api.ts'
import type { ConnectionLimits } from '../server/api/http/connections.ts'
import type { Route } from '../server/api/http/route-table.ts'
import { DEFAULT_CONFIG, type NodeConfig } from '../server/cluster/config.ts'
import { parseAllowList } from '../outbound/allow-list.ts'
import { createOutbound } from '../outbound/outbound.ts'
import { type SchedulerNode, startNode } from '../server/node/start-node.ts'
import {
  type AdminTokenFile,
  type AdminTokenReach,
  registerAdminToken,
} from '../server/identity/installation-token.ts'
import type { KeySource } from '../server/secrets/keys.ts'
import type { FormerSessions } from '../server/workers/former-sessions.ts'
import { openVault } from '../server/secrets/vault.ts'
import type { Store } from '../store/port.ts'
import { systemClock } from '../worker/clock/system-clock.ts'
import { type BlobPlace, openBlobs } from './storage/open-blobs.ts'
import { openStore } from './storage/open-store.ts'
import { createSecureRandom } from './secure-random.ts'
import type { EmptyAnswer } from '../server/compat/wire.ts'

export interface SchedulerOptions {
  readonly store: string
  /** Where blobs are stored: rows of the store unless a directory is given. */
  readonly blobs?: { readonly place: BlobPlace; readonly dataDir: string }
  readonly config?: Partial<NodeConfig>
  readonly clock?: Clock
  readonly random?: Random
  /** The token of this installation. */
  readonly rootToken?: string
  /** The file of the token. It lets nodes on one PostgreSQL share the token of the installation. */
  readonly rootTokenFile?: AdminTokenFile
  /** The keys that encrypt secrets. Without keys there are no secrets. */
  readonly secretKeys?: KeySource
  /** The version of this program, for the HTTP API. */
  readonly version?: string
  /** Destinations of webhooks besides the public internet: see `parseAllowList`. */
  readonly allowAddresses?: readonly string[]
  /** The log for errors of requests. */
  readonly log?: Logger
  onError?(error: unknown): void
  /** Warnings about the files of the store. */
  onWarn?(message: string): void
  /** The store can no longer be trusted (a failed fsync): the process must end at once. */
  onFatal?(error: unknown): void
}

/**
 * A complete scheduler node: store, background loops and, on demand, HTTP. `npm start` and
 * `punctual up` run one.
 */
export interface Scheduler {
  clientFor(project: string): SchedulerClient
  listen(options: ListenOptions): Promise<string>
  /** The routes, once it listens. */
  routes(): readonly Route[]
  readonly formerSessions: FormerSessions
  stop(): Promise<void>
  readonly storeVersion: string
  /** Undefined where there can be no other node. */
  readonly adminTokenReach: AdminTokenReach | undefined
}

export interface ListenOptions {
  readonly host: string
  readonly port: number
  /** Callers without a token are accepted. */
  readonly isOpen?: boolean
  readonly allowHosts?: readonly string[]
  /** The answer to a worker of the compatibility API when there is no job. */
  readonly compatEmpty?: EmptyAnswer
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer }
  /** Overrides of the default connection limits. */
  readonly connections?: Partial<ConnectionLimits>
}

export async function openScheduler(options: SchedulerOptions): Promise<Scheduler> {
  const onError = options.onError ?? (() => {})
  let noteFailure: (error: unknown) => void = () => {}
  const store = await openStore({
    url: options.store,
    onFatal(error) {
      noteFailure(error)
      ;(options.onFatal ?? onError)(error)
    },
    onWarn: options.onWarn ?? onError,
  })
  const clock = options.clock ?? systemClock
  let api: ListeningApi | undefined
  const started = await startNodeOn(store, clock, options, () => api?.ownUrl).catch(
    async (error: unknown) => {
      await store.close()
      throw error
    },
  )
  const { node, adminTokenReach } = started
  noteFailure = node.storeFailed

  return {
    storeVersion: store.version,
    adminTokenReach,
    clientFor: node.clientFor,
    formerSessions: node.formerSessions,

    listen(listenOptions) {
      api = new ListeningApi(createNodeApi(node, clock, options, listenOptions))
      return api.listen(listenOptions)
    },

    routes: () => api?.routes ?? [],
    async stop() {
      await Promise.allSettled([node.stop(), api?.close()])
      await store.close()
    },
  }
}

async function startNodeOn(
  store: Store,
  clock: Clock,
  options: SchedulerOptions,
  ownUrl: () => string | undefined,
): Promise<{ node: SchedulerNode; adminTokenReach: AdminTokenReach | undefined }> {
  const { rootToken, rootTokenFile, version, log } = options
  const isShared = store.kind === 'postgres'
  const allow = parseAllowList(options.allowAddresses ?? [])
  const { place, dataDir } = options.blobs ?? { place: 'store', dataDir: '' }
  const blobs = await openBlobs(place, { store, dataDir, now: clock.now })
  const vault = await openVault(store, options.secretKeys)
  const adminTokenReach =
    isShared && rootTokenFile ? await registerAdminToken(store, rootTokenFile) : undefined
  const acceptedBy = adminTokenReach?.acceptedBy ?? 'this_node'
  const node = await startNode({
    isRootStored: acceptedBy !== 'this_node',
    store,
    blobs,
    clock,
    random: options.random ?? createSecureRandom(),
    config: configFor(isShared, options.config),
    rootToken,
    version,
    vault,
    webhookDelivery: { outbound: createOutbound({ clock, allow }), ownUrl },
    onError: options.onError ?? (() => {}),
    log,
    onWarn: (message) => log?.warn(message),
    zone: systemTimeZone(),
  })
  return { node, adminTokenReach }
}

function configFor(isShared: boolean, given: Partial<NodeConfig> | undefined): NodeConfig {
  return {
    ...DEFAULT_CONFIG,
    name: hostname(),
    // A SQLite file has a single writer, so its lanes rarely need a refresh.
    laneRefreshMs: isShared ? DEFAULT_CONFIG.laneRefreshMs : 10_000,
    ...given,
  }
}

function createNodeApi(
  node: SchedulerNode,
  clock: Clock,
  { log, version }: SchedulerOptions,
  { isOpen = false, allowHosts = [], compatEmpty, tls, connections = {} }: ListenOptions,
): Api {
  return createApi({
    clientFor: node.clientFor,
    workingFor: node.workingFor,
    admin: node.admin,
    compat: node.compat,
    ...(compatEmpty && { compatEmpty }),
    metrics: node.metrics,
    health: { live: () => true, ready: node.ready },
    identify: node.authenticator.identify,
    clock,
    isOpen,
    allowHosts,
    connections,
    ...(tls && { tls }),
    ...(log && { log }),
    ...(version === undefined ? {} : { version }),
  })
}

/** The HTTP server of a node, and its address. */
class ListeningApi {
  readonly #api: Api
  #ownUrl: string | undefined

  constructor(api: Api) {
    this.#api = api
  }

  /** The address, if clients can use it. */
  get ownUrl(): string | undefined {
    return this.#ownUrl
  }

  get routes(): readonly Route[] {
    return this.#api.routeTable
  }

  async listen({ host, port }: ListenOptions): Promise<string> {
    const url = await this.#api.listen({ host, port })
    this.#ownUrl = isAnyAddress(host) ? undefined : url
    return url
  }

  close(): Promise<void> {
    return this.#api.close()
  }
}

/** The time zone of this machine; UTC if it has no standard name. */
function systemTimeZone(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  return zoneNames().includes(timeZone) ? timeZone : 'UTC'
}

/** Then the listen address is not one that clients can use. */
function isAnyAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}
