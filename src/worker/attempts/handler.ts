/**
 * The code of a job. Its return value becomes the run's result, as JSON; a thrown error fails the
 * attempt.
 */
export type Handler = (input: unknown, context: HandlerContext) => unknown

export interface HandlerContext {
  readonly runId: string
  /**
   * 1 for the first attempt. A handler may run more than once for one run; see `idempotencyKey`.
   */
  readonly attempt: number
  /**
   * Grows with every attempt of a run: resources that remember the highest value can refuse a late
   * writer.
   */
  readonly fence: number
  readonly job: string
  readonly project: string
  /** The nominal time the run was due, milliseconds since 1970. */
  readonly dueAt: number
  /** Aborts when the attempt must stop; its reason is an `AttemptStopped` with the cause. */
  readonly signal: AbortSignal
  /** The same for every attempt of the run: pass it to services that detect repeated requests. */
  readonly idempotencyKey: string
  /**
   * The secrets the run requested, by name. They are masked in what the handler returns or throws.
   */
  readonly secrets: Readonly<Record<string, string>>
}

/**
 * Thrown by a handler when another attempt would fail the same way: the run fails without a retry.
 */
export class FatalError extends Error {
  /** Any thrown value with this property has the same effect. */
  readonly retriable = false

  constructor(message?: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'FatalError'
  }
}

export type StopCause = 'cancelled' | 'timeout' | 'lease_lost' | 'draining'

const SENTENCES: Record<StopCause, string> = {
  cancelled: 'the run was cancelled',
  timeout: 'the attempt ran out of time',
  lease_lost: 'the lease is lost: another worker may run this now',
  draining: 'the worker is shutting down',
}

/** Why a handler's signal aborted. */
export class AttemptStopped extends Error {
  readonly why: StopCause

  constructor(why: StopCause) {
    super(SENTENCES[why])
    this.name = 'AttemptStopped'
    this.why = why
  }
}
