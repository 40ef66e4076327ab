import type { ProcessEnd } from '../../core/run/output.ts'
import type { Assignment, Done } from '../../core/wire/protocol.ts'
import type { StopCause } from './handler.ts'
import { type MaskedStream, type Masker, maskerOf } from '../output/masking/masker.ts'
import { messageOf, outcomeOf, type Settled } from './outcome.ts'
import { Output } from '../output/output.ts'
import type { ProcessDeps } from '../executors/process/process-attempt.ts'
import { Said } from '../output/attempt-markers.ts'
import type { Printing, Shelf } from '../output/output-buffer.ts'
import { STOP_REMARKS } from './stop-remarks.ts'
import { type AttemptHooks, outranks, type UnderWay } from './running-attempt.ts'

export interface PrintingDeps {
  readonly shelf: Pick<Shelf, 'add' | 'remove'>
  readonly outputLimitBytes?: number | undefined
  /** Whether what it prints may be about itself. */
  readonly listens?: boolean | undefined
  /** For people who watch the worker. */
  readonly echo?: ProcessDeps['echo']
}

/** What is known once it has settled. */
export interface Ending {
  readonly settled: Settled
  /** JSON text. */
  readonly result?: string | undefined
  readonly process?: ProcessEnd | undefined
  /** It is over and nobody knows how. */
  readonly isLost?: boolean
}

const OUTPUT_LIMIT_BYTES = 64 * 1024 * 1024

/**
 * An attempt with a log: told to stop, timed, and reported once everything but the last of its output
 * is with the server. What it does meanwhile is for its executor to say.
 */
export abstract class PrintingAttempt implements UnderWay, Printing {
  readonly assignment: Assignment
  readonly output: Output
  readonly said: Said | undefined
  readonly #hooks: AttemptHooks
  readonly #deps: PrintingDeps
  readonly #over = new AbortController()
  /** No secret comes further than here, whatever way it takes. */
  protected readonly masker: Masker
  readonly #masked: Record<1 | 2, MaskedStream>
  #startedMono = 0
  #stopped: StopCause | undefined
  #ending: Ending | undefined
  #isOver = false

  constructor(assignment: Assignment, hooks: AttemptHooks, deps: PrintingDeps) {
    this.assignment = assignment
    this.#hooks = hooks
    this.#deps = deps
    this.masker = maskerOf(assignment)
    this.#masked = { 1: this.masker.stream(), 2: this.masker.stream() }
    this.said = deps.listens ? new Said() : undefined
    this.output = new Output({
      limitBytes: deps.outputLimitBytes ?? OUTPUT_LIMIT_BYTES,
      onChange: () => this.#changed(),
      onRoom: (hasRoom) => this.throttle(hasRoom),
      onMark: (mark) => {
        if (this.said?.hear(mark, this.elapsedMs()) && !this.#ending) deps.shelf.add(this)
      },
    })
  }

  /** Does the work. Should it reject, the attempt could not be started. */
  protected abstract work(): Promise<Ending>
  /** Ends the work early: whatever it is doing, `work` settles soon. */
  protected abstract interrupt(why: StopCause): void
  /** Whether there is room for what it prints. */
  protected abstract throttle(hasRoom: boolean): void

  start(): void {
    const { timeoutMs } = this.assignment
    this.#startedMono = this.#hooks.clock.mono()
    if (timeoutMs !== null) void this.#watchTimeout(timeoutMs)
    // Unheard, a rejection would end the worker, and the server if they are one process.
    void this.work()
      .catch(unstartable)
      .then((ending) => this.#settle(ending))
  }

  stop(why: StopCause): void {
    if (this.#ending || !outranks(why, this.#stopped)) return
    this.#stopped = why
    this.remark(STOP_REMARKS[why])
    this.interrupt(why)
  }

  forget(): void {
    this.stop('lease_lost')
    if (this.#ending) this.#end(undefined)
  }

  elapsedMs(): number {
    return this.#hooks.clock.mono() - this.#startedMono
  }

  protected get stopped(): StopCause | undefined {
    return this.#stopped
  }

  protected remark(text: string): void {
    this.output.remark(this.elapsedMs(), this.masker.text(`punctual: ${text}`))
  }

  protected print(stream: 1 | 2, bytes: Buffer): void {
    this.#show(stream, this.#masked[stream].push(bytes))
  }

  #show(stream: 1 | 2, bytes: Buffer): void {
    if (bytes.length === 0) return
    this.output.push(stream, this.elapsedMs(), bytes)
    this.#deps.echo?.(this.assignment, stream, bytes)
  }

  #settle(ending: Ending): void {
    this.#ending = ending
    this.#over.abort('over')
    for (const stream of [1, 2] as const) this.#show(stream, this.#masked[stream].end())
    this.output.end(this.elapsedMs())
    if (this.#stopped === 'lease_lost') return this.#end(undefined)
    if (!ending.isLost) return this.#changed()
    this.#hooks.onLost(this)
    this.#end(undefined)
  }

  #changed(): void {
    if (this.#isOver) return
    const summary = this.#ending && this.output.summary()
    if (!this.#ending || !summary) return this.#deps.shelf.add(this)
    const { settled, result, process } = this.#ending
    const words = { masker: this.masker, said: this.said?.error }
    const done = outcomeOf(this.assignment, this.#stopped, settled, words)
    const progress = this.said?.progress
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

  #end(done: Done | undefined): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#deps.shelf.remove(this)
    this.#hooks.onEnd(this, done)
    this.#hooks.onReturn(this)
  }

  async #watchTimeout(timeoutMs: number): Promise<void> {
    await this.#hooks.clock.sleep(timeoutMs, this.#over.signal)
    this.stop('timeout')
  }
}

function unstartable(error: unknown): Ending {
  return { settled: { kind: 'unstartable', message: messageOf(error) } }
}
