import { LIMITS } from '../../../core/limits.ts'
import type { ProcessEnd } from '../../../core/run/output.ts'
import type { Assignment, FinishedAttempt } from '../../../core/wire/protocol.ts'
import type { ProcessWork } from '../../../core/work/work.ts'
import type { WorkLimits } from '../../../core/work/work-limits.ts'
import type { StopCause } from '../../attempts/handler.ts'
import type { ChildEvents, Launcher, StartedChild } from '../../launcher/launcher.ts'
import { killMarked } from '../../launcher/process-tree.ts'
import { type MaskedStream, type Masker, maskerOf } from '../../output/masking/masker.ts'
import { messageOf, outcomeOf, type Settled } from '../../attempts/outcome.ts'
import { STOP_MESSAGES } from '../../attempts/stop-messages.ts'
import { type AttemptHooks, outranks, type RunningAttempt } from '../../attempts/running-attempt.ts'
import type { AttemptFiles, AttemptFileStore } from '../files/attempt-files.ts'
import { commandOf, environmentOf } from './command.ts'
import type { FullnessWatch } from '../files/fullness-watch.ts'
import type { LauncherPool } from './launcher-pool.ts'
import { endMessages, settledOf, tmpLimitMessage } from './process-outcome.ts'
import { Output } from '../../output/output.ts'
import type { Echo, OutputBuffer, OutputSource } from '../../output/output-buffer.ts'
import type { ExecutionHost } from './host.ts'
import { AttemptMarkers } from '../../output/attempt-markers.ts'
import { type Terms, termsOf } from './terms.ts'

const DEFAULT_GRACE_MS = 10_000

export interface ProcessDeps {
  readonly fileStore: AttemptFileStore
  readonly environment: Readonly<Record<string, string>>
  readonly directory: string
  readonly host: ExecutionHost
  readonly fullness: FullnessWatch
  readonly launchers: Pick<LauncherPool, 'pick'>
  readonly outputBuffer: Pick<OutputBuffer, 'add' | 'remove'>
  readonly echo?: Echo | undefined
}

/** A running process and its output. */
export class ProcessAttempt implements RunningAttempt, OutputSource {
  readonly assignment: Assignment
  readonly output: Output
  readonly markers = new AttemptMarkers()
  readonly #work: ProcessWork
  readonly #hooks: AttemptHooks
  readonly #deps: ProcessDeps
  readonly #terms: Terms | { readonly refused: string }
  readonly #masker: Masker
  /** Masks the output before any other code sees it. */
  readonly #masked: Record<1 | 2, MaskedStream>
  #files: AttemptFiles | undefined
  readonly #ended = new AbortController()
  #child: StartedChild | undefined
  #isWaiting = false
  #startedMono = 0
  #stopped: StopCause | undefined
  #settled: Settled | undefined
  #limitExceeded: Settled | undefined
  #processEnd: ProcessEnd = {}
  #hasEnded = false

  constructor(assignment: Assignment, work: ProcessWork, hooks: AttemptHooks, deps: ProcessDeps) {
    this.assignment = assignment
    this.#work = work
    this.#hooks = hooks
    this.#deps = deps
    this.#terms = termsOf(work, deps.host)
    this.#masker = maskerOf(assignment)
    this.#masked = { 1: this.#masker.stream(), 2: this.#masker.stream() }
    this.output = new Output({
      limitBytes: outputLimitOf(this.#terms),
      onChange: () => this.#reportWhenSent(),
      onBackpressure: (isPaused) => this.#throttle(isPaused),
      onMark: (mark) => {
        if (this.markers.record(mark, this.elapsedMs()) && !this.#settled)
          deps.outputBuffer.add(this)
      },
    })
  }

  start(): void {
    const { timeoutMs } = this.assignment
    if (timeoutMs !== null) void this.#watchTimeout(timeoutMs)
    const terms = this.#terms
    if ('refused' in terms) return this.#settle({ kind: 'unstartable', message: terms.refused })
    for (const message of terms.messages) this.#addWorkerLine(message)
    try {
      const { fileStore } = this.#deps
      const files = fileStore.open(this.assignment, terms.switchTo)
      this.#files = files
      const prepared = fileStore.prepare(this.assignment, files)
      if (!prepared) return this.#launch(terms, files)
      void prepared.then(
        () => this.#launch(terms, files),
        (error: unknown) => this.#failFiles(error),
      )
    } catch (error) {
      this.#failFiles(error)
    }
  }

  stop(why: StopCause): void {
    if (this.#settled || !outranks(why, this.#stopped)) return
    this.#stopped = why
    this.#addWorkerLine(STOP_MESSAGES[why])
    this.#child?.stop(why === 'lease_lost' ? 0 : this.#graceMs())
    if (why === 'lease_lost') this.#throttle(false)
    if (this.#isWaiting) this.#settle({ kind: 'unstarted' })
  }

  /** The server says that the attempt no longer belongs to this worker. */
  forget(): void {
    this.stop('lease_lost')
    if (this.#settled) this.#finish(undefined)
  }

  elapsedMs(): number {
    return this.#hooks.clock.mono() - this.#startedMono
  }

  /**
   * The end of a process is reported after its output, so the output of a lost attempt is read and
   * dropped.
   */
  #throttle(isPaused: boolean): void {
    if (isPaused && this.#stopped !== 'lease_lost') this.#child?.pause()
    else this.#child?.resume()
  }

  #graceMs(): number {
    return this.#work.kill_grace_ms ?? DEFAULT_GRACE_MS
  }

  /** Adds a line by the worker itself to the output. */
  #addWorkerLine(text: string): void {
    this.output.addWorkerLine(this.elapsedMs(), `punctual: ${this.#masker.text(text)}`)
  }

  #launch(terms: Terms, files: AttemptFiles): void {
    if (this.#stopped) return this.#settle({ kind: 'unstarted' })
    const launcher = this.#deps.launchers.pick()
    if (!(launcher instanceof Promise)) return this.#launchBy(launcher, terms, files)
    this.#isWaiting = true
    void launcher.then(
      (one) => this.#afterWait(() => this.#launchBy(one, terms, files)),
      (error: unknown) => {
        this.#afterWait(() => this.#settle({ kind: 'unstartable', message: messageOf(error) }))
      },
    )
  }

  /** Does nothing if the attempt was stopped while it waited. */
  #afterWait(goOn: () => void): void {
    this.#isWaiting = false
    if (!this.#settled) goOn()
  }

  #launchBy(launcher: Launcher, { user, ...terms }: Terms, files: AttemptFiles): void {
    const { environment: base, directory } = this.#deps
    const [file, ...args] = commandOf(this.#work, files)
    const { cwd = user?.home ?? directory, stdin, umask } = this.#work
    const { timeoutMs } = this.assignment
    this.#startedMono = this.#hooks.clock.mono()
    this.#child = launcher.start(
      {
        file,
        args,
        cwd,
        stdin,
        umask: umask === undefined ? undefined : Number.parseInt(umask, 8),
        env: environmentOf(this.assignment, { base, files, user }),
        user: terms.switchTo,
        limits: terms.launcherLimits,
        timeoutMs: timeoutMs ?? undefined,
        graceMs: this.#graceMs(),
        secretFiles: this.#deps.fileStore.secretFiles(this.assignment),
      },
      this.#events(terms.limits),
    )
    const { tmp_bytes: most } = terms.limits
    if (files.tmp !== undefined && most !== undefined) this.#watchFullness(files.tmp, most)
  }

  #watchFullness(tmp: string, most: number): void {
    const leave = this.#deps.fullness.add(tmp, most, (bytes) => {
      const message = tmpLimitMessage(bytes, most)
      this.#addWorkerLine(message)
      this.#limitExceeded = { kind: 'overran', cause: 'error', message }
      this.#child?.stop(0)
    })
    this.#ended.signal.addEventListener('abort', leave)
  }

  #events(limits: WorkLimits): ChildEvents {
    return {
      onOutput: ({ stream, ms, bytes }) => this.#show(stream, ms, this.#masked[stream].push(bytes)),
      onUnstartable: (message) => this.#settle({ kind: 'unstartable', message }),
      onEnd: (code, signal, details) => {
        if (details.leaseExpired) return this.#endAsLost()
        if (details.timedOut) this.stop('timeout')
        for (const message of endMessages(details, limits)) this.#addWorkerLine(message)
        this.#processEnd = {
          ...(code === null ? { signal: signal ?? '?' } : { exit_code: code }),
          containment: details.containment,
        }
        this.#settle(
          (code !== 0 && this.#limitExceeded) || settledOf(code, signal, details, limits),
        )
      },
      onAbandoned: () => {
        killMarked(this.assignment)
        this.#endAsLost()
      },
    }
  }

  /** The process had started, and its outcome cannot be known. */
  #endAsLost(): void {
    this.#settled = { kind: 'unstarted' }
    this.#finish(undefined, true)
  }

  #failFiles(error: unknown): void {
    this.#settle({ kind: 'unstartable', message: `its files: ${messageOf(error)}` })
  }

  #show(stream: 1 | 2, ms: number, bytes: Buffer): void {
    if (bytes.length === 0) return
    this.output.push(stream, ms, bytes)
    this.#deps.echo?.(this.assignment, stream, bytes)
  }

  #settle(settled: Settled): void {
    this.#settled = settled
    this.#ended.abort('finished')
    for (const stream of [1, 2] as const) {
      this.#show(stream, this.elapsedMs(), this.#masked[stream].end())
    }
    this.output.end(this.elapsedMs())
    if (this.#stopped === 'lease_lost') this.#finish(undefined)
    else this.#reportWhenSent()
  }

  /** Reports the end once all output but the last chunk is stored. */
  #reportWhenSent(): void {
    if (this.#hasEnded) return
    const summary = this.#settled && this.output.summary()
    if (!this.#settled || !summary) return this.#deps.outputBuffer.add(this)
    this.#hasEnded = true
    void this.#report(this.#settled, {
      ...this.#processEnd,
      ...(this.markers.progress && { progress: this.markers.progress }),
      ...(summary.chunks > 0 || summary.bytes > 0 ? { output: summary } : {}),
    })
  }

  async #report(settled: Settled, process: ProcessEnd): Promise<void> {
    const isSuccess = settled.kind === 'exited' && settled.code === 0
    const files = isSuccess ? this.#files : undefined
    const masker = this.#masker
    const result = files
      ? await this.#deps.fileStore.readResult(files, masker).catch(unreadable)
      : {}
    const known: Settled =
      isSuccess && result.problem !== undefined
        ? { kind: 'broken', message: result.problem }
        : settled
    const words = { masker, reportedError: this.markers.error }
    const done = outcomeOf(this.assignment, this.#stopped, known, words)
    this.#end(done && { ...done, ...(result.text ? { result: result.text } : {}), process })
  }

  #finish(done: FinishedAttempt | undefined, isLost = false): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#ended.abort('finished')
    if (isLost && this.#stopped !== 'lease_lost') this.#hooks.onLost(this)
    this.#end(done)
  }

  #end(done: FinishedAttempt | undefined): void {
    this.#deps.outputBuffer.remove(this)
    if (this.#files) void this.#deps.fileStore.clear(this.assignment, this.#files).catch(() => {})
    this.#hooks.onEnd(this, done)
    this.#hooks.onReturn(this)
  }

  async #watchTimeout(timeoutMs: number): Promise<void> {
    await this.#hooks.clock.sleep(timeoutMs, this.#ended.signal)
    this.stop('timeout')
  }
}

function outputLimitOf(terms: Terms | { readonly refused: string }): number {
  return ('limits' in terms && terms.limits.output_bytes) || LIMITS.minOutputBytes
}

function unreadable(error: unknown): { text?: string; problem?: string } {
  return { problem: `the result cannot be read: ${messageOf(error)}` }
}
