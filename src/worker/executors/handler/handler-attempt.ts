import type { Assignment } from '../../../core/wire/protocol.ts'
import {
  AttemptStopped,
  type Handler,
  type HandlerContext,
  type StopCause,
} from '../../attempts/handler.ts'
import { maskerOf } from '../../output/masking/masker.ts'
import { messageOf, outcomeOf, type Settled } from '../../attempts/outcome.ts'
import type { AttemptHooks, RunningAttempt } from '../../attempts/running-attempt.ts'

/** How long a handler may take to stop before it counts as ignoring its signal. */
export const SETTLE_GRACE_MS = 10_000

/**
 * One running handler, which is also the handler's context. A class, because the worker creates
 * tens of thousands of these per second: closures and abort controllers that most attempts never
 * use would cost more than the work.
 */
export class HandlerAttempt implements HandlerContext, RunningAttempt {
  readonly assignment: Assignment
  readonly #handler: Handler | undefined
  readonly #hooks: AttemptHooks
  #control: AbortController | undefined
  #returned: AbortController | undefined
  #stopped: StopCause | undefined
  #isEnded = false
  #hasReturned = false

  constructor(assignment: Assignment, handler: Handler | undefined, hooks: AttemptHooks) {
    this.assignment = assignment
    this.#handler = handler
    this.#hooks = hooks
  }

  get runId(): string {
    return this.assignment.run
  }
  get idempotencyKey(): string {
    return this.assignment.run
  }
  get attempt(): number {
    return this.assignment.attempt
  }
  get fence(): number {
    return this.assignment.fence
  }
  get job(): string {
    return this.assignment.job
  }
  get project(): string {
    return this.assignment.project
  }
  get dueAt(): number {
    return this.assignment.dueAt
  }

  get secrets(): Readonly<Record<string, string>> {
    const { secrets = [] } = this.assignment
    return Object.fromEntries(secrets.map(({ name, value }) => [name, value]))
  }

  get signal(): AbortSignal {
    if (!this.#control) {
      this.#control = new AbortController()
      if (this.#stopped !== undefined) this.#control.abort(new AttemptStopped(this.#stopped))
    }
    return this.#control.signal
  }

  /**
   * Starts the handler. A handler that returns a value instead of a promise has ended when this
   * returns.
   */
  start(): void {
    const { timeoutMs } = this.assignment
    if (timeoutMs !== null) void this.#watchTimeout(timeoutMs)
    const called = this.#call(this.#handler)
    if (called.kind === 'called') void this.#waitFor(called.promise)
    else this.#finish(called)
  }

  /** Aborts the handler's signal. The first cause wins. */
  stop(why: StopCause): void {
    if (this.#stopped !== undefined || this.#hasReturned) return
    this.#stopped = why
    this.#control?.abort(new AttemptStopped(why))
    void this.#watchGrace()
  }

  async #waitFor(promise: PromiseLike<unknown>): Promise<void> {
    let settled: Settled
    try {
      settled = { kind: 'returned', value: await promise }
    } catch (error) {
      settled = { kind: 'threw', error }
    }
    this.#finish(settled)
  }

  #finish(settled: Settled): void {
    this.#hasReturned = true
    this.#returned?.abort('finished')
    this.#end(settled)
    this.#hooks.onReturn(this)
  }

  #call(handler: Handler | undefined): Settled | { kind: 'called'; promise: PromiseLike<unknown> } {
    const { job, input, work } = this.assignment
    if (!handler) {
      const what = work ? `does not run ${work.executor} work` : `has no handler for ${job}`
      return { kind: 'unstartable', message: `this worker ${what}` }
    }
    let value: unknown
    try {
      value = input === null ? undefined : JSON.parse(input)
    } catch (error) {
      return { kind: 'unstartable', message: `the input is not JSON: ${messageOf(error)}` }
    }
    try {
      const answer = handler(value, this)
      return isThenable(answer)
        ? { kind: 'called', promise: answer }
        : { kind: 'returned', value: answer }
    } catch (error) {
      return { kind: 'threw', error }
    }
  }

  #end(settled: Settled): void {
    if (this.#isEnded) return
    this.#isEnded = true
    const done = outcomeOf(this.assignment, this.#stopped, settled, {
      masker: maskerOf(this.assignment),
    })
    this.#hooks.onEnd(this, done)
  }

  async #watchTimeout(timeoutMs: number): Promise<void> {
    await this.#sleepUntilReturn(timeoutMs)
    this.stop('timeout')
  }

  async #watchGrace(): Promise<void> {
    await this.#sleepUntilReturn(SETTLE_GRACE_MS)
    if (this.#hasReturned) return
    this.#end({ kind: 'ignored' })
    this.#hooks.onIgnored(this)
  }

  async #sleepUntilReturn(ms: number): Promise<void> {
    if (this.#hasReturned) return
    this.#returned ??= new AbortController()
    await this.#hooks.clock.sleep(ms, this.#returned.signal)
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    (typeof value === 'object' || typeof value === 'function') &&
    value !== null &&
    typeof (value as { then?: unknown }).then === 'function'
  )
}
