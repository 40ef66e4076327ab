import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { TokenWatch } from './token-watch.ts'
import type { Clock } from '../../../core/clock.ts'
import type { Logger } from '../../../core/logging/logger.ts'
import type { Permission } from '../../../core/permission.ts'
import type { SubmitClient, WorkerClient } from '../../../core/wire/protocol.ts'
import type { Readiness } from '../../health/readiness.ts'
import type { Administration } from '../../admin/administration.ts'
import type { Authenticator } from '../../identity/authenticator.ts'
import type { Caller } from '../../identity/caller.ts'
import type { CompatApi } from '../../compat/compat-api.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import type { RequestOrigin } from '../../workers/session-registry.ts'
import type { ConnectionLimits } from './connections.ts'
import type { ListLimits } from './list-slots.ts'
import type { RouteDocs } from './route-docs.ts'
import type { Route } from './route-table.ts'
import type { EmptyAnswer } from '../../compat/wire.ts'

/** Options of `createApi`: the scheduler behind it, and who may call. */
export interface ApiOptions {
  /**
   * The scheduler as a project sees it; `actor` is the token that acts. A node passes
   * `createLocalClient` of `src/server/node/local-client.ts`.
   */
  readonly clientFor: (project: string, actor: number | null) => SubmitClient
  /**
   * The worker protocol as its caller may use it. A node passes `createWorking` of
   * `src/server/workers/worker-protocol.ts`.
   */
  readonly workingFor: (origin: RequestOrigin) => WorkerClient
  readonly admin: Administration
  /** The compatibility protocols. */
  readonly compat: CompatApi
  /** Answer to a worker of these protocols when there is no job; 204 if absent. */
  readonly compatEmpty?: EmptyAnswer
  readonly metrics?: Pick<Metrics, 'onRequest' | 'setListFigures' | 'page'>
  readonly health: Health
  readonly identify: Authenticator['identify']
  /** Accepts callers without a token: for servers that only their own machine can reach. */
  readonly isOpen?: boolean
  readonly clock: Clock
  /** Host names this server answers to, besides those of the loopback. */
  readonly allowHosts?: readonly string[]
  /** Receives errors of this server, with the id of the request; without it they are not logged. */
  readonly log?: Logger
  /** Overrides of the default connection limits. */
  readonly connections?: Partial<ConnectionLimits>
  /** Overrides of the default list limits. */
  readonly lists?: Partial<ListLimits>
  /** Serve HTTPS. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer }
  /** Version of this program, for the reference. */
  readonly version?: string
}

export interface Health {
  /** False when only a restart can help. */
  live(): boolean
  /** Whether this node can take requests now, and if not, why. */
  ready(): Promise<Readiness>
}

export type Api = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * What the caller needs. Every route declares it; there is no default that could be forgotten.
     */
    permission: Permission | 'public'
    /** Covers all projects: only for tokens of the installation. */
    everywhere?: true
    /** Reads data that grows with history, so it runs in the slots for lists. */
    list?: true
    /** Keeps the raw bytes of the body, because the signature covers them. */
    keepsBytes?: true
    /** All fields of the body are optional, and so is the body. */
    bodyIsOptional?: true
    /** Fields that accept any text, including characters that databases refuse. */
    freeText?: readonly string[]
    /** Maximum number of keys per object in the body, if not the default. */
    mostKeys?: number
    /** Documentation of its answers; web pages have none. */
    reference?: RouteDocs
  }

  /** Description of a route for the reference. */
  interface FastifySchema {
    summary?: string
  }

  interface FastifyRequest {
    caller: Caller
    /** Raw body, where the route keeps it. */
    bytes?: Buffer
  }

  interface FastifyInstance {
    routeTable: readonly Route[]
    /** Aborts when the server stops: waits and streams end. */
    closing: AbortSignal
    /** Of requests that take long: waits and streams end with their token. */
    tokenWatch: TokenWatch
  }
}
