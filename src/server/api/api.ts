import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { SchedulerClient } from '../../core/protocol.ts'

/** What `createApi` is given: the scheduler behind it, and who may call. */
export interface ApiOptions {
  readonly clientFor: (project: string) => SchedulerClient
  readonly health: Health
  readonly adminToken: string
  /** Host names this server answers to, besides those of the loopback. */
  readonly allowHosts?: readonly string[]
  readonly logger?: FastifyBaseLogger
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

/** Who may use a route. Every route says so; there is no default to forget. */
export type Access = 'public' | 'admin'

declare module 'fastify' {
  interface FastifyContextConfig {
    access: Access
    /** Fields under which any text goes, also what databases dislike. */
    freeText?: readonly string[]
  }
}
