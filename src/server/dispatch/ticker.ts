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
  TickBatch,
  TickResult,
} from '../../store/port.ts'
import { StoreError } from '../../store/port.ts'
import { mayBeReference } from '../payloads/reference.ts'
import type { Roster } from '../sessions/session-index.ts'
import { apply, unpromise } from './apply-result.ts'
import { compose, type Work } from './compose-tick.ts'
import { createJams } from './saturated-gates.ts'
import { isolate, Unfinished } from './isolate.ts'
import type { LaneBoard } from './lane-index.ts'
import { answer, createInbox, type Entry, type SubmitEntry, type Submitted } from './pending.ts'
import { createTurns } from './fair-turns.ts'

export interface TickerOptions {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly roster: Roster
  readonly board: LaneBoard
  readonly maxPending: number
  readonly patienceMs: number
  /** The incarnation under which ticks run now, and whether it may promise work to anyone. */
  node(): number
  mayGrant(): boolean
  mintId(): number
  giveBack(lease: Lease): void
  onTimer(dueAt: number): void
  onLimited(until: number): void
  /** It matters which lanes have work, and is not known: room is short, or a commit was not heard of. */
  onUnsure(): void
  /** A commit whose outcome nobody knows: its leases may exist, and no session was told of them. */
  onUnknown(batch: TickBatch): void
  onError(error: unknown): void
  /** A tick that is durable now, what it did, and how long the store took. */
  onTick(batch: TickBatch, result: TickResult, tookMs: number): void
  onEnd(lease: Lease, command: EndCommand, now: number): void
  onGrant(lease: Lease): void
}

/**
 * The heart: whatever arrived while the last transaction ran goes into the next one. At rest a tick
 * is one run and costs one commit; under load batches grow by themselves. Nothing is answered before
 * its commit.
 */
export interface Ticker {
  submit(runs: readonly NewRun[]): Promise<(Submitted | PunctualError)[]>
  /** `forever`: nobody repeats this ending, so it waits out any outage. */
  end(commands: readonly EndCommand[], forever?: boolean): Promise<(EndVerdict | PunctualError)[]>
  cancel(command: CancelCommand): Promise<CancelVerdict | PunctualError>
  /** Something changed that a tick could use: demand, or a lane that may have work. */
  kick(): void
  /** Resolves when every tick under way or about to start has been applied. */
  settled(): Promise<void>
  readonly pending: number
}

/** Less than this is cheaper in the tick after the one under way than in a commit of its own. */
const WORTH_ANOTHER_TICK = 100
const BACK_OFF_MS = [20, 50, 100, 250, 500, 1_000]

export function createTicker(options: TickerOptions): Ticker {
  const { store, clock, roster, board } = options
  const submits = createInbox<NewRun, Submitted | PunctualError>()
  const ends = createInbox<EndCommand, EndVerdict | PunctualError>()
  const cancels = createInbox<CancelCommand, CancelVerdict | PunctualError>()
  const turns = createTurns()
  const jams = createJams()
  const underWay = new Set<Promise<void>>()
  let scheduled = false
  let failures = 0
  let resting = false

  const kick = () => {
    if (scheduled || resting || underWay.size >= store.ticksInFlight) return
    scheduled = true
    // Not at once: what else arrives in this turn of the event loop shares the commit.
    setImmediate(start)
  }

  const pending = () => submits.size + ends.size + cancels.size

  const start = () => {
    scheduled = false
    while (!resting && underWay.size < store.ticksInFlight) {
      if (underWay.size > 0 && pending() < WORTH_ANOTHER_TICK) return
      const work = next()
      if (!work) return
      const tick: Promise<void> = run(work).finally(() => {
        underWay.delete(tick)
        kick()
      })
      underWay.add(tick)
    }
  }

  /**
   * The node may have been declared dead and joined anew since. A run that was never sent gets a new
   * id; one that may be in the store under its old id is given up, or it could be stored twice. So is
   * one whose input is kept under that id.
   */
  const isOfThisLife = (entry: SubmitEntry): boolean => {
    if (entry.incarnation === options.node()) return true
    if (entry.tried || mayBeReference(entry.item.input)) {
      answer(entry, new PunctualError('store_unavailable', 'the node lost its place meanwhile'))
      return false
    }
    entry.incarnation = options.node()
    entry.item = { ...entry.item, id: options.mintId() }
    return true
  }

  const next = (): Work | null =>
    compose(
      {
        submits: submits.take(store.tickCap).filter(isOfThisLife),
        // Work ends at least as fast as it comes in: what has finished still occupies its worker's slot.
        ends: ends.take(2 * store.tickCap),
        cancels: cancels.take(store.tickCap),
      },
      {
        node: options.node(),
        roster,
        board,
        random: options.random,
        turns,
        jams,
        // More than can come in by one tick: a line that workers have room for must get shorter, or
        // every run would stand in it for ever after.
        cap: 2 * store.tickCap,
        mono: clock.mono(),
        mayGrant: options.mayGrant(),
        onUnsure: options.onUnsure,
      },
    )

  const run = async (work: Work): Promise<void> => {
    try {
      const sentMono = clock.mono()
      const result = await store.tick(work.batch)
      finish(work, result)
      options.onTick(work.batch, result, clock.mono() - sentMono)
      failures = 0
    } catch (error) {
      await recover(work, error)
    }
  }

  const finish = (work: Work, result: TickResult) =>
    apply(work, result, {
      roster,
      board,
      turns,
      jams,
      mono: clock.mono(),
      // Leases taken under an incarnation that has since died are not this node's to promise.
      mayGrant: options.mayGrant() && options.node() === work.batch.node,
      giveBack: options.giveBack,
      onTimer: options.onTimer,
      onUnsure: options.onUnsure,
      onLimited: options.onLimited,
      onEnd: options.onEnd,
      onGrant: options.onGrant,
      remint(entry) {
        if (mayBeReference(entry.item.input)) {
          answer(entry, new PunctualError('store_unavailable', 'the id of the run was taken'))
          return
        }
        entry.item = { ...entry.item, id: options.mintId(), handOff: null }
        submits.restore([entry])
      },
    })

  const recover = async (work: Work, error: unknown): Promise<void> => {
    unpromise(work, { roster, board, turns })
    for (const entry of work.submits) entry.item = { ...entry.item, handOff: null }
    // Claims carry nothing a user sent, so they cannot be poison: a refusal there is for the log.
    const hasItems = work.submits.length + work.ends.length + work.cancels.length > 0
    if (hasItems && error instanceof StoreError && error.outcome === 'refused') {
      await isolateOrRetry(work)
      return
    }
    options.onError(error)
    retryLater(work, !(error instanceof StoreError) || error.outcome === 'unknown')
    resting = true
    const pause = BACK_OFF_MS[Math.min(failures, BACK_OFF_MS.length - 1)] ?? 1_000
    failures += 1
    await clock.sleep(pause * (0.75 + options.random() / 2))
    resting = false
  }

  const isolateOrRetry = async (work: Work): Promise<void> => {
    try {
      await isolate(work, {
        run: (piece) => store.tick(piece.batch),
        apply: finish,
        reject(piece, error) {
          options.onError(error)
          const verdict = new PunctualError(
            'invalid_request',
            `the store refused it: ${error.message}`,
          )
          for (const entry of allEntries(piece)) answer(entry, verdict)
        },
      })
    } catch (error) {
      if (!(error instanceof Unfinished)) throw error
      options.onError(error.cause)
      // Only the piece that failed is known to be unfinished; the pieces after it never ran, but
      // repeating a piece that did is harmless: ids and fences make every item happen once.
      retryLater(work, true)
    }
  }

  const retryLater = (work: Work, unknown: boolean) => {
    if (unknown) options.onUnknown(work.batch)
    const late = (entry: Entry<unknown, unknown>) => clock.mono() >= entry.deadlineMono
    const gaveUp = new PunctualError('store_unavailable', 'the database did not answer in time')
    for (const entry of allEntries(work)) {
      if (isAnswered(entry)) continue
      entry.tried ||= unknown
      if (late(entry)) answer(entry, gaveUp)
    }
    submits.restore(work.submits.filter((entry) => !isAnswered(entry)))
    ends.restore(work.ends.filter((entry) => !isAnswered(entry)))
    cancels.restore(work.cancels.filter((entry) => !isAnswered(entry)))
  }

  const terms = (forever = false) => ({
    deadlineMono: forever ? Number.POSITIVE_INFINITY : clock.mono() + options.patienceMs,
    incarnation: options.node(),
  })

  return {
    submit(runs) {
      if (submits.size > options.maxPending) {
        throw new PunctualError('overloaded', `${submits.size} submissions are waiting already`)
      }
      const answers = submits.add(runs, terms())
      kick()
      return answers
    },

    end(commands, forever = false) {
      const answers = ends.add(commands, terms(forever))
      kick()
      return answers
    },

    async cancel(command) {
      const answers = cancels.add([command], terms())
      kick()
      const [verdict] = await answers
      return verdict ?? { kind: 'unknown' }
    },

    kick,

    async settled() {
      // One that is about to start was asked for before us.
      if (scheduled) await new Promise((resolve) => setImmediate(resolve))
      await Promise.allSettled([...underWay])
    },

    get pending() {
      return pending()
    },
  }
}

function allEntries(work: Work): Entry<unknown, unknown>[] {
  return [...work.submits, ...work.ends, ...work.cancels] as Entry<unknown, unknown>[]
}

function isAnswered(entry: { index: number; group: { answers: unknown[] } }): boolean {
  return entry.index in entry.group.answers
}
