import type { ErrorCode } from '../../../core/errors.ts'
import type { AnswerHeader, RequestHeader } from '../shapes/headers.ts'
import type { SchemaName } from '../shapes/answers.ts'

/**
 * Documentation of a route beyond the schemas that check its requests. Only names: their content is
 * loaded when the reference is requested, so that an idle server does not hold it in memory.
 */
export interface RouteDocs {
  /**
   * By status: the schema of a JSON body, the media type of another body, the stream, or null for
   * no body.
   */
  readonly answers: Readonly<Partial<Record<Status, SchemaName | MediaType | StreamName | null>>>
  /** Headers it reads besides those of every route of its kind. */
  readonly takes?: readonly RequestHeader[]
  /** Response headers, by status. */
  readonly gives?: Readonly<Partial<Record<Status, readonly AnswerHeader[]>>>
  /** Errors specific to this route. */
  readonly problems?: readonly ErrorCode[]
}

export type Status = 200 | 201 | 204 | 503
export type MediaType = 'text/plain'
/** A stream of server-sent events, by its subject. */
export type StreamName = 'stream of a log' | 'stream of runs'
