import type { ErrorCode } from '../../../core/errors.ts'
import type { AnswerHeader, RequestHeader } from '../shapes/headers.ts'
import type { SchemaName } from '../shapes/answers.ts'

/**
 * What a route tells the reference beyond the schemas that check its requests. Only names: what they
 * stand for is loaded when somebody asks for the reference, so an idle server does not carry it.
 */
export interface Told {
  /** By status: the schema of the JSON, the type of what is no JSON, or null for no body. */
  readonly answers: Readonly<Partial<Record<Status, SchemaName | MediaType | null>>>
  /** Headers it reads besides those that every route of its kind reads. */
  readonly takes?: readonly RequestHeader[]
  /** Headers that its answers carry, by status. */
  readonly gives?: Readonly<Partial<Record<Status, readonly AnswerHeader[]>>>
  /** What may go wrong with it in particular. */
  readonly problems?: readonly ErrorCode[]
}

export type Status = 200 | 201 | 204 | 503
export type MediaType = 'text/plain' | 'text/event-stream'
