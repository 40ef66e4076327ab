import type { ProcessEnd } from '../../core/run/output.ts'
import type { Assignment, FinishedAttempt } from '../../core/wire/protocol.ts'
import type { StopCause } from './handler.ts'
import { type MaskedStream, type Masker, maskerOf } from '../output/masking/masker.ts'
import { messageOf, outcomeOf, type Settled } from './outcome.ts'
import { Output } from '../output/output.ts'
import { AttemptMarkers } from '../output/attempt-markers.ts'
import type { Echo, OutputBuffer, OutputSource } from '../output/output-buffer.ts'
import { STOP_MESSAGES } from './stop-messages.ts'
import { type AttemptHooks, outranks, type RunningAttempt } from './running-attempt.ts'

export interface PrintingDeps {
  readonly outputBuffer: Pick<OutputBuffer, 'add' | 'remove'>
  readonly outputLimitBytes?: number | undefined
  /** Whether its output may contain progress and error markers. */
  readonly readsMarkers?: boolean | undefined
  readonly echo?: Echo | undefined
}

/** The result of the work once it has settled. */
export interface AttemptResult {
  readonly settled: Settled
  /** JSON text. */
  readonly result?: string | undefined
  readonly process?: ProcessEnd | undefined
  /** The attempt ended and its outcome cannot be known. */
  readonly isLost?: boolean
}

const OUTPUT_LIMIT_BYTES = 64 * 1024 * 1024

/**
 * An attempt with a log: handles stop, timeout and output, and reports once all output but the last
 * chunk is stored. The executor's subclass does the actual work.
 */
export abstract class PrintingAttempt implements RunningAttempt, OutputSource {
  readonly assignment: Assignment
  readonly output: Output
  readonly markers: AttemptMarkers | undefined
  readonly #hooks: AttemptHooks
  readonly #deps: PrintingDeps
  readonly #ended = new AbortController()
  /** All output, messages and results pass through this masker. */
  protected readonly masker: Masker
  readonly #masked: Record<1 | 2, MaskedStream>
  #startedMono = 0
  #stopped: StopCause | undefined
  #attemptResult: AttemptResult | undefined
  #hasEnded = false

  constructor(assignment: Assignment, hooks: AttemptHooks, deps: PrintingDeps) {
    this.assignment = assignment
    this.#hooks = hooks
    this.#deps = deps
    this.masker = maskerOf(assignment)
    this.#masked = { 1: this.masker.stream(), 2: this.masker.stream() }
    this.markers = deps.readsMarkers ? new AttemptMarkers() : undefined
    this.output = new Output({
      limitBytes: deps.outputLimitBytes ?? OUTPUT_LIMIT_BYTES,
      onChange: () => this.#reportWhenSent(),
      onBackpressure: (isPaused) => this.throttle(isPaused),
      onMark: (mark) => {
        if (this.markers?.record(mark, this.elapsedMs()) && !this.#attemptResult)
          deps.outputBuffer.add(this)
      },
    })
  }

  /** Does the work. If it rejects, the attempt counts as not started. */
  protected abstract work(): Promise<AttemptResult>
  /** Ends the work early: `work` settles soon afterwards. */
  protected abstract interrupt(why: StopCause): void
  /** Pauses or resumes the output, depending on the free space in the buffer. */
  protected abstract throttle(isPaused: boolean): void

  start(): void {
    const { timeoutMs } = this.assignment
    this.#startedMono = this.#hooks.clock.mono()
    if (timeoutMs !== null) void this.#watchTimeout(timeoutMs)
    // An unhandled rejection would end the worker process, and the server with it if both share one
    // process.
    void this.work()
      .catch(unstartable)
      .then((ending) => this.#settle(ending))
  }

  stop(why: StopCause): void {
    if (this.#attemptResult || !outranks(why, this.#stopped)) return
    this.#stopped = why
    this.addWorkerLine(STOP_MESSAGES[why])
    this.interrupt(why)
  }

  forget(): void {
    this.stop('lease_lost')
    if (this.#attemptResult) this.#end(undefined)
  }

  elapsedMs(): number {
    return this.#hooks.clock.mono() - this.#startedMono
  }

  protected get stopped(): StopCause | undefined {
    return this.#stopped
  }

  /** Adds a line by the worker itself to the output. */
  protected addWorkerLine(text: string): void {
    this.output.addWorkerLine(this.elapsedMs(), this.masker.text(`punctual: ${text}`))
  }

  protected print(stream: 1 | 2, bytes: Buffer): void {
    this.#show(stream, this.#masked[stream].push(bytes))
  }

  #show(stream: 1 | 2, bytes: Buffer): void {
    if (bytes.length === 0) return
    this.output.push(stream, this.elapsedMs(), bytes)
    this.#deps.echo?.(this.assignment, stream, bytes)
  }

  #settle(ending: AttemptResult): void {
    this.#attemptResult = ending
    this.#ended.abort('finished')
    for (const stream of [1, 2] as const) this.#show(stream, this.#masked[stream].end())
    this.output.end(this.elapsedMs())
    if (this.#stopped === 'lease_lost') return this.#end(undefined)
    if (!ending.isLost) return this.#reportWhenSent()
    this.#hooks.onLost(this)
    this.#end(undefined)
  }

  #reportWhenSent(): void {
    if (this.#hasEnded) return
    const summary = this.#attemptResult && this.output.summary()
    if (!this.#attemptResult || !summary) return this.#deps.outputBuffer.add(this)
    const { settled, result, process } = this.#attemptResult
    const words = { masker: this.masker, reportedError: this.markers?.error }
    const done = outcomeOf(this.assignment, this.#stopped, settled, words)
    const progress = this.markers?.progress
    this.#end(
      done && {
        ...done,
        ...(result !== undefined && done.outcome === 'succeeded'
          ? { result: this.masker.result(result) }
          : {}),
        process: {
          ...process,
          ...(progress && { progress }),
          ...(summary.chunks > 0 || summary.bytes > 0 ? { output: summary } : {}),
        },
      },
    )
  }

  #end(done: FinishedAttempt | undefined): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#deps.outputBuffer.remove(this)
    this.#hooks.onEnd(this, done)
    this.#hooks.onReturn(this)
  }

  async #watchTimeout(timeoutMs: number): Promise<void> {
    await this.#hooks.clock.sleep(timeoutMs, this.#ended.signal)
    this.stop('timeout')
  }
}

function unstartable(error: unknown): AttemptResult {
  return { settled: { kind: 'unstartable', message: messageOf(error) } }
}
