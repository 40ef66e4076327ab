import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { Clock } from '../../../core/clock.ts'
import type { Permission } from '../../../core/permission.ts'
import type { SchedulerClient } from '../../../core/wire/protocol.ts'
import type { Administration } from '../../admin/administration.ts'
import type { Authenticator } from '../../identity/authenticator.ts'
import type { Caller } from '../../identity/caller.ts'
import type { Plain } from '../../compat/compat-api.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import type { ConnectionLimits } from './connections.ts'
import type { Told } from './route-docs.ts'
import type { Route } from './route-table.ts'

/** What `createApi` is given: the scheduler behind it, and who may call. */
export interface ApiOptions {
  /** The scheduler as a project sees it; `actor` is the token that acts. */
  readonly clientFor: (project: string, actor: number | null) => SchedulerClient
  readonly admin: Administration
  /** The plain paths of older protocols. */
  readonly plain: Plain
  readonly metrics?: Pick<Metrics, 'onRequest' | 'page'>
  readonly health: Health
  readonly identify: Authenticator['identify']
  /** Callers without a token are let in: for servers that only their own machine can reach. */
  readonly isOpen?: boolean
  readonly clock: Clock
  /** Host names this server answers to, besides those of the loopback. */
  readonly allowHosts?: readonly string[]
  readonly logger?: FastifyBaseLogger
  /** What differs from the usual limits of connections. */
  readonly connections?: Partial<ConnectionLimits>
  /** Serve HTTPS. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer }
  /** Of this program, for the reference. */
  readonly version?: string
}

export interface Health {
  /** False when only a restart can help. */
  live(): boolean
  /** Whether this node can take requests now, and if not, why. */
  ready(): Promise<{ readonly ok: boolean; readonly reason?: string }>
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
    /** What it lets its caller do. Every route says so; there is no default to forget. */
    permission: Permission | 'public'
    /** It speaks of every project: only for tokens of the installation. */
    everywhere?: true
    /** What was signed is the bytes that came, so they are kept beside what they mean. */
    keepsBytes?: true
    /** What stands in its body may all be left out, and the body with it. */
    bodyIsOptional?: true
    /** Fields under which any text goes, also what databases dislike. */
    freeText?: readonly string[]
    /** Of one object in its body, so many keys and not as many as usual. */
    mostKeys?: number
    /** What the reference says of its answers; pages for people stand in no reference. */
    reference?: Told
  }

  /** What the reference says a route does. */
  interface FastifySchema {
    summary?: string
  }

  interface FastifyRequest {
    caller: Caller
    /** Of the body, where its route keeps them. */
    bytes?: Buffer
  }

  interface FastifyInstance {
    routeTable: readonly Route[]
    /** Aborts when the server stops: waits and streams end. */
    closing: AbortSignal
  }
}
