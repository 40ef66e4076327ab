import type { Blobs } from '../../blobs/port.ts'
import type { Clock, Random } from '../../core/clock.ts'
import type { Logger } from '../../core/logging/logger.ts'
import type { SchedulerClient, WorkerClient } from '../../core/wire/protocol.ts'
import type { Store } from '../../store/port.ts'
import type { Administration } from '../admin/administration.ts'
import type { CompatApi } from '../compat/compat-api.ts'
import type { NodeConfig } from '../cluster/config.ts'
import type { Authenticator } from '../identity/authenticator.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Readiness } from '../health/readiness.ts'
import type { ReadRule } from '../schedules/rule-cache.ts'
import type { FormerSessions } from '../workers/former-sessions.ts'
import type { RequestOrigin } from '../workers/session-registry.ts'
import type { Vault } from '../secrets/vault.ts'
import type { WebhookDeliveryOptions } from '../webhooks/webhook-delivery.ts'

export interface NodeOptions {
  readonly store: Store
  /** Stores inputs and results that are too large for a row. */
  readonly blobs: Blobs
  readonly clock: Clock
  readonly random: Random
  readonly config: NodeConfig
  /** The token of this installation; without it only tokens in the store are accepted. */
  readonly rootToken?: string | undefined
  /** That token is also in the store: see `registerAdminToken`. */
  readonly isRootStored?: boolean | undefined
  /** Decrypts secrets; without it there are none. */
  readonly vault?: Vault | undefined
  /** Version of this program. */
  readonly version?: string | undefined
  /** Replaces the core parser of schedule rules. */
  readonly readRule?: ReadRule | undefined
  /** Default zone for local times of schedules; UTC if absent. */
  readonly zone?: string | undefined
  /** How webhooks are delivered; a node without this leaves it to other nodes. */
  readonly webhookDelivery?: WebhookDeliveryOptions | undefined
  /** Receives a line when the store fails or recovers. */
  readonly log?: Logger | undefined
  /** Receives errors that the node survived. */
  onError?(error: unknown): void
  /** Receives warnings for operators. */
  onWarn?(message: string): void
}

/** One server process: any number of them on one store form the scheduler. */
export interface SchedulerNode {
  /** The scheduler as one project sees it; `actor` is the acting token, null without one. */
  clientFor(project: string, actor?: number | null): SchedulerClient
  /** The worker protocol for an external caller. */
  workingFor(origin: RequestOrigin): WorkerClient
  readonly admin: Administration
  /** Support for the compatibility protocols. */
  readonly compat: CompatApi
  readonly authenticator: Authenticator
  readonly metrics: Metrics
  /** Sessions of workers that belonged to an earlier process of this server. */
  readonly formerSessions: FormerSessions
  /** Whether the store answers and this node may promise work. */
  ready(): Promise<Readiness>
  /** The store has reported that it stopped: `ready` is false from now on, without trying a write first. */
  storeFailed(error: unknown): void
  /** Leaves the cluster; workers move on with their leases, and another node adopts these. */
  stop(): Promise<void>
  readonly id: number
}
