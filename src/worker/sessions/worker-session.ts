import { Attempt, SETTLE_GRACE_MS } from '../executors/handler/handler-attempt.ts'
import { backOffMs } from '../requests/back-off.ts'
import { createBell } from '../events/wake-up.ts'
import { createBook } from '../attempts/attempt-table.ts'
import { exchangeLoop } from './exchange-loop.ts'
import { type Executors, openExecutors } from '../executors/executors.ts'
import { heartbeatLoop } from '../heartbeat/heartbeat-loop.ts'
import { createLease } from '../heartbeat/lease.ts'
import { readOptions, type WorkerOptions } from './worker-options.ts'
import { type Pacemaker, startPacemaker } from '../heartbeat/heartbeat-thread.ts'
import { shippingLoop } from '../output/log-shipping-loop.ts'
import { isHopeless, mustRegisterAgain } from '../requests/refusal.ts'
import { createQuarantine } from '../attempts/quarantine.ts'
import { createRegistrar } from './registrar.ts'
import { send } from '../requests/send-request.ts'
import type { Session } from '../requests/session-registration.ts'

/** What the other attempts get when a handler that ignores its signal makes the worker stop. */
const UNRESPONSIVE_GRACE_MS = 10_000
/** What the last reports, and the goodbye, may take once nothing runs any more. */
const GOODBYE_MS = 5_000

/**
 * `drained`: it was asked to. `handler_unresponsive`: a handler went on after it was told to stop,
 * and only the end of the process can end it. `refused`: the server did not accept the worker.
 */
export type StopReason = 'drained' | 'handler_unresponsive' | 'refused'

export interface Worker {
  /** Resolves once the worker is registered; rejects if the server will not have it. */
  start(): Promise<void>
  /**
   * Takes nothing more, lets handlers finish for up to `graceMs`, then stops them and gives back
   * what they did not finish. Called again, the shorter grace counts.
   */
  drain(graceMs: number): Promise<void>
  /** At once: kills what runs and gives it back, uncounted. */
  kill(): Promise<void>
  /** Resolves when the worker has stopped for good. After `handler_unresponsive`, end the process. */
  readonly stopped: Promise<StopReason>
  stats(): WorkerStats
}

export interface WorkerStats {
  readonly session: string | undefined
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
export function createLine(options: WorkerOptions): Worker {
  const settings = readOptions(options)
  const { client, clock, random, telling, pollMs, signal } = settings
  const bell = createBell()
  const lease = createLease(clock, lapse, renewed, () => pacemaker?.leftMs() ?? -Infinity)
  const closed = new AbortController()
  const started = Promise.withResolvers<void>()
  const stopped = Promise.withResolvers<StopReason>()
  const emptied = Promise.withResolvers<void>()
  const graceOver = Promise.withResolvers<void>()
  // Whoever does not wait for the start learns of a refusal through `onError` and `stopped`.
  started.promise.catch(() => {})
  let current: Session | undefined
  let isStarted = false
  let isDraining = false
  /** There is more to offer than the last registration said. */
  let hasMoreToOffer = false
  let exchanges = 0
  let heartbeats = 0
  let executors: Executors | undefined
  let pacemaker: Pacemaker | undefined

  const quarantine = createQuarantine({
    ...{ clock, telling, signal: closed.signal },
    onChange: () => bell.ring(),
  })
  const book = createBook({
    clock,
    quarantine,
    slots: settings.offer.slots,
    begin(assignment, hooks) {
      const { work, task, job } = assignment
      const handler = work ? undefined : settings.handlers.get(task ?? job)
      // What nobody here can do is an attempt too: one that says so.
      return (
        (work && executors?.begin(assignment, work, hooks)) ??
        new Attempt(assignment, handler, hooks)
      )
    },
    onForsaken: () => current?.end('a launcher is gone'),
    onChange() {
      bell.ring()
      if (isDraining && book.isEmpty()) emptied.resolve()
    },
    onIgnored({ job, run }) {
      const graceS = SETTLE_GRACE_MS / 1000
      telling.error(new Error(`the handler of ${job} ignored its signal for ${graceS} s (${run})`))
      beginDrain(UNRESPONSIVE_GRACE_MS, 'handler_unresponsive')
    },
  })
  const registrar = createRegistrar({
    client,
    clock,
    offer() {
      hasMoreToOffer = false
      return { ...settings.offer, ...executors?.introduction, executors: offered() }
    },
    book,
    lease,
    onSessionEnd(why) {
      telling.log('session over', { why })
      bell.ring()
    },
  })
  const deps = {
    client,
    clock,
    random,
    book,
    quarantine,
    bell,
    lease,
    telling,
    pollMs,
    onExchange: () => void (exchanges += 1),
    onHeartbeat: () => void (heartbeats += 1),
  }

  function offered(): readonly string[] {
    const { executors: names } = settings.offer
    return executors?.offered(names) ?? names
  }

  async function serve(): Promise<void> {
    for (let failures = 0; !closed.signal.aborted; failures += 1) {
      if (failures > 0) await clock.sleep(backOffMs(failures, random), closed.signal)
      try {
        const session = await registrar.register(closed.signal)
        if (session === undefined) return
        // It came while the answer was on its way, when there was no session to end.
        if (hasMoreToOffer) {
          session.end('there is more to offer')
          failures = -1
          continue
        }
        await attend(session)
        // A session that got somewhere earns an immediate return; one that did not must wait.
        if (session.answered > 0) failures = -1
      } catch (error) {
        telling.error(error)
        if (isStarted || !isHopeless(error)) continue
        started.reject(error)
        return close('refused')
      }
    }
  }

  async function attend(session: Session): Promise<void> {
    current = session
    isStarted = true
    started.resolve()
    telling.log('registered', { session: session.id, registration: session.registration })
    const loops = [exchangeLoop(session, deps), heartbeatLoop(session, { ...deps, pacemaker })]
    if (executors) loops.push(shippingLoop(session, { ...deps, shelf: executors.shelf }))
    // One that fails takes the other along; both are over before the next registration begins.
    const ends = loops.map((loop) => loop.finally(() => session.end('a loop failed')))
    session.signal.addEventListener('abort', () => pacemaker?.rest())
    for (const end of await Promise.allSettled(ends)) {
      if (end.status === 'rejected') throw end.reason
    }
  }

  function renewed(leftMs: number): void {
    executors?.renew(leftMs)
    pacemaker?.renew(leftMs)
  }

  function lapse(): void {
    telling.log('lease ran out', { running: book.counts().running })
    book.forsake()
    current?.end('the lease ran out')
  }

  function beginDrain(graceMs: number, reason: StopReason): void {
    void clock.sleep(graceMs, closed.signal).then(graceOver.resolve)
    if (isDraining) return
    isDraining = true
    telling.log('draining', { graceMs })
    book.close()
    void windDown(reason)
  }

  async function windDown(reason: StopReason): Promise<void> {
    await Promise.race([emptied.promise, graceOver.promise])
    book.stopRunning('draining')
    await Promise.race([emptied.promise, clock.sleep(SETTLE_GRACE_MS + GOODBYE_MS, closed.signal)])
    await close(reason)
  }

  async function close(reason: StopReason): Promise<void> {
    if (closed.signal.aborted) return
    closed.abort()
    current?.end('the worker stops')
    // Who says goodbye gives back what it has, uncounted. That is not for what it lost by itself.
    lease.isKept()
    const hasNothingToConfess = book.forsaken().length === 0
    book.forsake()
    started.resolve()
    pacemaker?.close()
    // With the goodbye others get what was here, so none of it may be left.
    await executors?.close()
    if (hasNothingToConfess) await leave()
    telling.log('stopped', { reason })
    stopped.resolve(reason)
  }

  async function leave(): Promise<void> {
    const { session, registration } = registrar
    if (session === undefined) return
    const sent = await send(() => client.leave(session, registration), {
      clock,
      limitMs: GOODBYE_MS,
      signal: new AbortController().signal,
    })
    // A server that has forgotten the session needs no goodbye.
    if (sent.kind === 'failed' && !mustRegisterAgain(sent.error)) telling.error(sent.error)
  }

  function begin(): void {
    if (signal?.aborted) return beginDrain(0, 'drained')
    signal?.addEventListener('abort', () => beginDrain(0, 'drained'), { signal: closed.signal })
    void lease.guard(closed.signal)
    void prepare().then(serve)
  }

  async function prepare(): Promise<void> {
    try {
      if (settings.executors) {
        executors = await openExecutors(settings.executors, {
          clock,
          onError: telling.error,
          onLeftovers: (processes) => telling.log('leftovers ended', { processes }),
          onRemoved: (container) => telling.log('container removed late', { container }),
          onOffer() {
            hasMoreToOffer = true
            current?.end('there is more to offer')
          },
        })
        // Told to stop before there was anything to close.
        if (closed.signal.aborted) await executors.close()
        // Who can do nothing yet has nothing to say to a server.
        if (offered().length === 0) await executors.complete
      }
      if (client.heartbeatPost) {
        pacemaker = startPacemaker({ lifeline: executors?.lifeline, onError: telling.error })
      }
    } catch (error) {
      telling.error(error)
      started.reject(error)
      await close('refused')
    }
  }

  let isBegun = false
  return {
    start() {
      if (!isBegun && !isDraining) begin()
      isBegun = true
      return started.promise
    },
    async drain(graceMs) {
      beginDrain(graceMs, 'drained')
      await stopped.promise
    },
    async kill() {
      isDraining = true
      book.close()
      await close('drained')
      await stopped.promise
    },
    stopped: stopped.promise,
    stats() {
      const { session, registration } = registrar
      return { session, registration, free: book.free(), ...book.counts(), exchanges, heartbeats }
    },
  }
}
