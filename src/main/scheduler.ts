import { hostname } from 'node:os'
import type { Clock, Random } from '../core/clock.ts'
import type { SchedulerClient } from '../core/wire/protocol.ts'
import { createApi } from '../server/api/create-api.ts'
import type { ConnectionLimits } from '../server/api/http/connections.ts'
import type { Route } from '../server/api/http/route-table.ts'
import { DEFAULT_CONFIG, type NodeConfig } from '../server/cluster/config.ts'
import { parseAllowList } from '../outbound/allow-list.ts'
import { createOutbound } from '../outbound/outbound.ts'
import { startNode } from '../server/node/start-node.ts'
import type { KeySource } from '../server/secrets/keys.ts'
import { openVault } from '../server/secrets/vault.ts'
import { systemClock } from '../worker/clock/system-clock.ts'
import { type BlobPlace, openBlobs } from './open-blobs.ts'
import { openStore } from './open-store.ts'
import { createSecureRandom } from './secure-random.ts'
import { zoneOfMachine } from './system-time-zone.ts'

export interface SchedulerOptions {
  readonly store: string
  /** Where blobs are kept: rows of the store unless a directory is given. */
  readonly blobs?: { readonly place: BlobPlace; readonly dataDir: string }
  readonly config?: Partial<NodeConfig>
  readonly clock?: Clock
  readonly random?: Random
  /** The token of this installation. */
  readonly rootToken?: string
  /** What seals secrets. Without it there can be none. */
  readonly secretKeys?: KeySource
  /** Of this program, for those who ask over HTTP. */
  readonly version?: string
  /** Where webhooks may lead besides the public internet: see `parseAllowList`. */
  readonly allowAddresses?: readonly string[]
  onError?(error: unknown): void
  /** The store can no longer be trusted (a failed fsync): the process must end at once. */
  onFatal?(error: unknown): void
}

/** A whole scheduler node: store, heart and, on demand, HTTP. What `npm start` and `punctual up` run. */
export interface Scheduler {
  clientFor(project: string): SchedulerClient
  listen(options: ListenOptions): Promise<string>
  /** What it answers to, once it listens. */
  routes(): readonly Route[]
  stop(): Promise<void>
  readonly storeVersion: string
}

export interface ListenOptions {
  readonly host: string
  readonly port: number
  /** Callers without a token are let in. */
  readonly isOpen?: boolean
  readonly allowHosts?: readonly string[]
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer }
  /** What differs from the usual limits of connections. */
  readonly connections?: Partial<ConnectionLimits>
}

export async function openScheduler(options: SchedulerOptions): Promise<Scheduler> {
  const onError = options.onError ?? (() => {})
  const store = await openStore({
    url: options.store,
    onFatal: options.onFatal ?? onError,
    onWarn: onError,
  })
  const isShared = store.kind === 'postgres'
  const config: NodeConfig = {
    ...DEFAULT_CONFIG,
    name: hostname(),
    // Nobody else fills the lanes of a SQLite file, so there is little to doubt.
    laneRefreshMs: isShared ? DEFAULT_CONFIG.laneRefreshMs : 10_000,
    ...options.config,
  }
  const clock = options.clock ?? systemClock
  const random = options.random ?? createSecureRandom()
  const { rootToken, version } = options
  let ownUrl: string | undefined
  const allow = parseAllowList(options.allowAddresses ?? [])
  const telling = { outbound: createOutbound({ clock, allow }), ownUrl: () => ownUrl }
  const start = async () => {
    const { place, dataDir } = options.blobs ?? { place: 'store', dataDir: '' }
    const blobs = await openBlobs(place, { store, dataDir, now: clock.now })
    const vault = await openVault(store, options.secretKeys)
    return startNode({
      ...{ store, blobs, clock, random, config, rootToken, version, vault, telling, onError },
      zone: zoneOfMachine(),
    })
  }
  const node = await start().catch(async (error: unknown) => {
    await store.close()
    throw error
  })
  let closeApi = async () => {}
  let routes: readonly Route[] = []

  return {
    storeVersion: store.version,
    clientFor: node.clientFor,

    async listen({ host, port, isOpen = false, allowHosts = [], tls, connections = {} }) {
      const api = createApi({
        clientFor: node.clientFor,
        admin: node.admin,
        plain: node.plain,
        metrics: node.metrics,
        health: { live: () => true, ready: node.ready },
        identify: node.authenticator.identify,
        clock,
        isOpen,
        allowHosts,
        connections,
        ...(tls && { tls }),
        ...(options.version === undefined ? {} : { version: options.version }),
      })
      closeApi = () => api.close()
      routes = api.routeTable
      const url = await api.listen({ host, port })
      ownUrl = isAnyAddress(host) ? undefined : url
      return url
    },

    routes: () => routes,
    async stop() {
      await Promise.allSettled([node.stop(), closeApi()])
      await store.close()
    },
  }
}

/** Where it listens is then no address anybody could use. */
function isAnyAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}
