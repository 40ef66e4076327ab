import type { Clock } from '../core/clock.ts'
import type { Assignment, Done } from '../core/protocol.ts'
import { AttemptStopped, type Handler, type HandlerContext, type StopCause } from './handler.ts'
import { messageOf, outcomeOf, type Settled } from './outcome.ts'

/** How long a handler that was told to stop may take before it counts as ignoring its signal. */
export const SETTLE_GRACE_MS = 10_000

export interface Attempt {
  /** Aborts the handler's signal. The first cause stands. */
  stop(why: StopCause): void
}

export interface AttemptHooks {
  readonly clock: Clock
  /** Once: there is something to report, or nothing when the attempt is no longer ours. */
  onEnd(done: Done | undefined): void
  /** Once, never before `onEnd`: the function has returned and its slot is free. */
  onReturn(): void
  /** The handler outlived its grace. It may run on forever; JavaScript cannot end it. */
  onIgnored(): void
}

/** Starts a handler. The hooks tell the rest; none is called before this returns. */
export function startAttempt(
  assignment: Assignment,
  handler: Handler | undefined,
  hooks: AttemptHooks,
): Attempt {
  const { clock } = hooks
  let control: AbortController | undefined
  let returned: AbortController | undefined
  let stopped: StopCause | undefined
  let isEnded = false
  let hasReturned = false

  // Most handlers never look at their signal, and a controller costs more than all the rest.
  const signalOf = () => {
    if (!control) {
      control = new AbortController()
      if (stopped !== undefined) control.abort(new AttemptStopped(stopped))
    }
    return control.signal
  }
  const sleepUntilReturn = async (ms: number) => {
    if (hasReturned) return
    returned ??= new AbortController()
    await clock.sleep(ms, returned.signal)
  }
  const end = (settled: Settled) => {
    if (isEnded) return
    isEnded = true
    hooks.onEnd(outcomeOf(assignment, stopped, settled))
  }
  const watchGrace = async () => {
    await sleepUntilReturn(SETTLE_GRACE_MS)
    if (hasReturned) return
    end({ kind: 'ignored' })
    hooks.onIgnored()
  }
  const stop = (why: StopCause) => {
    if (stopped !== undefined || hasReturned) return
    stopped = why
    control?.abort(new AttemptStopped(why))
    void watchGrace()
  }
  const watchTimeout = async (timeoutMs: number) => {
    await sleepUntilReturn(timeoutMs)
    stop('timeout')
  }
  const run = async () => {
    const settled = await settle(assignment, handler, new Context(assignment, signalOf))
    hasReturned = true
    returned?.abort()
    end(settled)
    hooks.onReturn()
  }

  if (assignment.timeoutMs !== null) void watchTimeout(assignment.timeoutMs)
  void run()
  return { stop }
}

async function settle(
  { job, input }: Assignment,
  handler: Handler | undefined,
  context: HandlerContext,
): Promise<Settled> {
  if (!handler) return { kind: 'unstartable', message: `this worker has no handler for ${job}` }
  let value: unknown
  try {
    value = input === null ? undefined : JSON.parse(input)
  } catch (error) {
    return { kind: 'unstartable', message: `the input is not JSON: ${messageOf(error)}` }
  }
  try {
    return { kind: 'returned', value: await handler(value, context) }
  } catch (error) {
    return { kind: 'threw', error }
  }
}

/** A class, because an object with a getter of its own is slow to make and most never use it. */
class Context implements HandlerContext {
  readonly runId: string
  readonly attempt: number
  readonly fence: number
  readonly job: string
  readonly project: string
  readonly dueAt: number
  readonly idempotencyKey: string
  readonly #signalOf: () => AbortSignal

  constructor(
    { run, attempt, fence, job, project, dueAt }: Assignment,
    signalOf: () => AbortSignal,
  ) {
    this.runId = run
    this.attempt = attempt
    this.fence = fence
    this.job = job
    this.project = project
    this.dueAt = dueAt
    this.idempotencyKey = run
    this.#signalOf = signalOf
  }

  get signal(): AbortSignal {
    return this.#signalOf()
  }
}
