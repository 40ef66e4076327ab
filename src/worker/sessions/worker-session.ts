import { type AttemptTable, createAttemptTable } from '../attempts/attempt-table.ts'
import { createQuarantine, type Quarantine } from '../attempts/quarantine.ts'
import { createWakeUp } from '../events/wake-up.ts'
import { SETTLE_GRACE_MS } from '../executors/handler/handler-attempt.ts'
import { createSessionLease, type SessionLease } from '../heartbeat/lease.ts'
import type { SessionRegistration } from '../requests/session-registration.ts'
import { createRegistrar, type Registrar } from './registrar.ts'
import { registrationLoop } from './registration-loop.ts'
import { createSessionExecutors, type SessionExecutors } from './session-executors.ts'
import { createShutdown, type Shutdown, type StopReason } from './shutdown.ts'
import { readOptions, type WorkerOptions, type WorkerSettings } from './worker-options.ts'

export type { StopReason } from './shutdown.ts'

/** The grace of the other attempts when a handler that ignores its signal makes the worker stop. */
const UNRESPONSIVE_GRACE_MS = 10_000

export interface Worker {
  /** Resolves once the worker is registered; rejects if the server refuses it. */
  start(): Promise<void>
  /**
   * Accepts no more runs, lets handlers finish for up to `graceMs`, then stops them and gives
   * unfinished runs back. When called again, the shorter grace applies.
   */
  drain(graceMs: number): Promise<void>
  /** Stops at once: kills what runs and gives it back, without counting the attempt. */
  kill(): Promise<void>
  /**
   * Resolves when the worker has stopped for good. After `handler_unresponsive`, end the process.
   */
  readonly stopped: Promise<StopReason>
  stats(): WorkerStats
}

export interface WorkerStats {
  /** The worker's id in the server's lists. */
  readonly worker: string | undefined
  readonly registration: number
  readonly free: number
  readonly running: number
  readonly unacknowledged: number
  readonly taken: number
  readonly lost: number
  readonly exchanges: number
  readonly heartbeats: number
}

/** A worker with one session. */
export function createWorkerSession(options: WorkerOptions): Worker {
  const session = new WorkerSession(readOptions(options))
  // Programs may pass these functions on without the worker.
  return {
    start: () => session.start(),
    drain: (graceMs) => session.drain(graceMs),
    kill: () => session.kill(),
    stopped: session.stopped,
    stats: () => session.stats(),
  }
}

class WorkerSession implements Worker {
  readonly stopped: Promise<StopReason>
  readonly #settings: WorkerSettings
  readonly #wakeUp = createWakeUp()
  readonly #closed = new AbortController()
  readonly #started = Promise.withResolvers<void>()
  readonly #executors: SessionExecutors
  readonly #lease: SessionLease
  readonly #quarantine: Quarantine
  readonly #attemptTable: AttemptTable
  readonly #registrar: Registrar
  readonly #shutdown: Shutdown
  #current: SessionRegistration | undefined
  #isBegun = false
  #exchanges = 0
  #heartbeats = 0

  constructor(settings: WorkerSettings) {
    this.#settings = settings
    const { client, clock, reporter } = settings
    // A caller that does not await `start` learns of a refusal through `onError` and `stopped`.
    this.#started.promise.catch(() => {})
    this.#executors = createSessionExecutors(settings, () =>
      this.#current?.end('there is more to offer'),
    )
    this.#lease = createSessionLease(
      clock,
      () => this.#onLeaseExpired(),
      (leftMs) => this.#executors.renew(leftMs),
      () => this.#executors.heartbeatThread?.leftMs() ?? -Infinity,
    )
    this.#quarantine = createQuarantine({
      clock,
      reporter,
      signal: this.#closed.signal,
      onChange: () => this.#wakeUp.notify(),
    })
    this.#attemptTable = this.#createAttemptTable()
    this.#registrar = createRegistrar({
      client,
      clock,
      offer: this.#executors.offer,
      attemptTable: this.#attemptTable,
      lease: this.#lease,
      onSessionEnd: (why) => {
        reporter.log('session ended', { why })
        this.#wakeUp.notify()
      },
    })
    this.#shutdown = createShutdown({
      client,
      clock,
      reporter,
      lease: this.#lease,
      executors: this.#executors,
      attemptTable: this.#attemptTable,
      registrar: this.#registrar,
      closed: this.#closed,
      onClose: () => {
        this.#current?.end('the worker stops')
        this.#started.resolve()
      },
    })
    this.stopped = this.#shutdown.stopped
  }

  #createAttemptTable(): AttemptTable {
    const { clock, reporter, offer } = this.#settings
    return createAttemptTable({
      clock,
      quarantine: this.#quarantine,
      slots: offer.slots,
      executors: this.#executors,
      onAbandoned: () => this.#current?.end('a launcher ended unexpectedly'),
      onChange: () => {
        this.#wakeUp.notify()
        this.#shutdown.onChange()
      },
      onIgnored: ({ job, run }) => {
        const graceS = SETTLE_GRACE_MS / 1000
        reporter.error(
          new Error(`the handler of ${job} ignored its signal for ${graceS} s (${run})`),
        )
        this.#shutdown.drain(UNRESPONSIVE_GRACE_MS, 'handler_unresponsive')
      },
    })
  }

  start(): Promise<void> {
    if (!this.#isBegun && !this.#shutdown.isDraining()) this.#begin()
    this.#isBegun = true
    return this.#started.promise
  }

  async drain(graceMs: number): Promise<void> {
    this.#shutdown.drain(graceMs, 'drained')
    await this.stopped
  }

  async kill(): Promise<void> {
    await this.#shutdown.kill()
    await this.stopped
  }

  stats(): WorkerStats {
    const { worker, registration } = this.#registrar
    return {
      worker,
      registration,
      free: this.#attemptTable.free(),
      ...this.#attemptTable.counts(),
      exchanges: this.#exchanges,
      heartbeats: this.#heartbeats,
    }
  }

  #begin(): void {
    const { signal } = this.#settings
    const stopAtOnce = () => this.#shutdown.drain(0, 'drained')
    if (signal?.aborted) return stopAtOnce()
    signal?.addEventListener('abort', stopAtOnce, { signal: this.#closed.signal })
    void this.#lease.guard(this.#closed.signal)
    void this.#serve()
  }

  async #serve(): Promise<void> {
    const { reporter } = this.#settings
    try {
      await this.#executors.open(this.#closed.signal)
    } catch (error) {
      reporter.error(error)
      await this.#refuse(error)
    }
    await registrationLoop({
      ...this.#settings,
      attemptTable: this.#attemptTable,
      quarantine: this.#quarantine,
      wakeUp: this.#wakeUp,
      lease: this.#lease,
      registrar: this.#registrar,
      executors: this.#executors,
      closed: this.#closed.signal,
      onRegistered: (session) => this.#onRegistered(session),
      onRefused: (error) => this.#refuse(error),
      onExchange: () => void (this.#exchanges += 1),
      onHeartbeat: () => void (this.#heartbeats += 1),
    })
  }

  #onRegistered(session: SessionRegistration): void {
    this.#current = session
    this.#started.resolve()
    this.#settings.reporter.log('registered', {
      worker: this.#registrar.worker ?? 'unknown',
      registration: session.registration,
    })
  }

  #onLeaseExpired(): void {
    this.#settings.reporter.log('lease expired', { running: this.#attemptTable.counts().running })
    this.#attemptTable.abandonRunning()
    this.#current?.end('the lease expired')
  }

  async #refuse(error: unknown): Promise<void> {
    this.#started.reject(error)
    await this.#shutdown.close('refused')
  }
}
