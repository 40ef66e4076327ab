import type { Clock, Random } from '../../core/clock.ts'
import { PunctualError } from '../../core/errors.ts'
import type {
  CancelCommand,
  CancelVerdict,
  EndCommand,
  EndVerdict,
  Lease,
  NewRun,
  Store,
  TickResult,
} from '../../store/port.ts'
import type { SessionIndex } from '../sessions/session-index.ts'
import type { NodeSignals } from '../signals/signals.ts'
import { applyResult } from './apply-result.ts'
import { composeTick, type TickWork } from './compose-tick.ts'
import { createFairTurns } from './fair-turns.ts'
import type { LaneIndex } from './lanes/lane-index.ts'
import type { Submitted } from './pending.ts'
import { createSaturatedGates } from './saturated-gates.ts'
import { createTickInboxes, type TickInboxes } from './tick-inboxes.ts'
import { createTickRecovery, type TickRecovery } from './tick-recovery.ts'

export interface TickerOptions {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly sessionIndex: SessionIndex
  readonly laneIndex: LaneIndex
  readonly maxPending: number
  readonly patienceMs: number
  /** The current incarnation, and whether it may promise work. */
  node(): number
  mayGrant(): boolean
  mintId(): number
  readonly signals: NodeSignals
  onGrant(lease: Lease): void
  onError(error: unknown): void
}

/**
 * The core loop: everything that arrives during one transaction goes into the next. At rest a tick
 * is one run and one commit; under load batches grow by themselves. Nothing is answered before its
 * commit.
 */
export interface Ticker {
  submit(runs: readonly NewRun[]): Promise<(Submitted | PunctualError)[]>
  /**
   * `forever`: no client repeats these commands, so they wait out any outage. `leases`: what the commands end, where
   * the session index may not have it any more.
   */
  end(
    commands: readonly EndCommand[],
    forever?: boolean,
    leases?: readonly Lease[],
  ): Promise<(EndVerdict | PunctualError)[]>
  cancel(command: CancelCommand): Promise<CancelVerdict | PunctualError>
  /** Something changed that a tick could use: free slots, or a lane that may have work. */
  kick(): void
  /** Resolves when every tick in progress or about to start has been applied. */
  settled(): Promise<void>
  readonly pending: number
}

/** Below this, waiting for the next tick is cheaper than a separate commit. */
const WORTH_ANOTHER_TICK = 100

export function createTicker(options: TickerOptions): Ticker {
  const { store } = options
  const inboxes = createTickInboxes(options)
  const { recovery, next, run } = createTickSteps(options, inboxes)
  const underWay = new Set<Promise<void>>()
  let isScheduled = false

  const kick = () => {
    if (isScheduled || recovery.isResting || underWay.size >= store.ticksInFlight) return
    isScheduled = true
    // Not at once: everything that arrives in this turn of the event loop shares the commit.
    setImmediate(start)
  }

  const start = () => {
    isScheduled = false
    while (!recovery.isResting && underWay.size < store.ticksInFlight) {
      if (underWay.size > 0 && inboxes.size < WORTH_ANOTHER_TICK) return
      const work = next()
      if (!work) return
      const tick: Promise<void> = run(work).finally(() => {
        underWay.delete(tick)
        kick()
      })
      underWay.add(tick)
    }
  }

  return {
    ...createTickCommands(options, { inboxes, recovery, kick }),
    kick,

    async settled() {
      // Lets a tick that is about to start begin first.
      if (isScheduled) await new Promise((resolve) => setImmediate(resolve))
      await Promise.allSettled([...underWay])
    },

    get pending() {
      return inboxes.size
    },
  }
}

/** Composes ticks, runs them in the store, and applies their results. */
function createTickSteps(
  options: TickerOptions,
  inboxes: TickInboxes,
): {
  readonly recovery: TickRecovery
  /** The next tick; null if there is nothing to do. */
  next(): TickWork | null
  run(work: TickWork): Promise<void>
} {
  const { store, clock, random, sessionIndex, laneIndex, signals, onError } = options
  const turns = createFairTurns()
  const saturatedGates = createSaturatedGates()

  const finish = (work: TickWork, result: TickResult) =>
    applyResult(work, result, {
      sessionIndex,
      laneIndex,
      turns,
      saturatedGates,
      mono: clock.mono(),
      // This node must not promise leases taken under an incarnation that has died since.
      mayGrant: options.mayGrant() && options.node() === work.batch.node,
      giveBack: signals.leaseUndeliverable,
      signals,
      onGrant: options.onGrant,
      remint: inboxes.remint,
    })

  const recovery = createTickRecovery({
    store,
    clock,
    random,
    sessionIndex,
    laneIndex,
    turns,
    inboxes,
    finish,
    signals,
    onError,
  })

  return {
    recovery,
    next: () =>
      composeTick(inboxes.take(store.tickCap), {
        node: options.node(),
        sessionIndex,
        laneIndex,
        random,
        turns,
        saturatedGates,
        // More than one tick can submit: if workers have free slots the backlog must shrink, or
        // every run would queue for ever.
        cap: 2 * store.tickCap,
        mono: clock.mono(),
        mayGrant: options.mayGrant(),
        signals,
      }),

    async run(work) {
      try {
        const sentMono = clock.mono()
        const result = await store.tick(work.batch)
        finish(work, result)
        const mono = clock.mono()
        signals.tickCommitted(work.batch, result, mono - sentMono, mono)
        recovery.succeeded()
      } catch (error) {
        await recovery.recover(work, error)
      }
    },
  }
}

/** The commands of callers, which wait in the inboxes until a tick has carried them. */
function createTickCommands(
  { clock, node, patienceMs, maxPending }: TickerOptions,
  parts: { readonly inboxes: TickInboxes; readonly recovery: TickRecovery; kick(): void },
): Pick<Ticker, 'submit' | 'end' | 'cancel'> {
  const { recovery, kick } = parts
  const { submits, ends, cancels } = parts.inboxes
  const terms = (forever = false, leases?: readonly Lease[]) => ({
    deadlineMono: forever ? Number.POSITIVE_INFINITY : clock.mono() + patienceMs,
    incarnation: node(),
    leases,
  })

  return {
    submit(runs) {
      if (submits.size > maxPending) {
        throw new PunctualError('overloaded', `${submits.size} submissions are waiting already`)
      }
      const { problem } = recovery
      if (problem) return Promise.resolve(runs.map(() => problem))
      const answers = submits.add(runs, terms())
      kick()
      return answers
    },

    end(commands, forever = false, leases) {
      const { problem } = recovery
      if (problem && !forever) return Promise.resolve(commands.map(() => problem))
      const answers = ends.add(commands, terms(forever, leases))
      kick()
      return answers
    },

    async cancel(command) {
      if (recovery.problem) return recovery.problem
      const answers = cancels.add([command], terms())
      kick()
      const [verdict] = await answers
      return verdict ?? { kind: 'unknown' }
    },
  }
}
