import { hash } from 'node:crypto'
import { PunctualError } from '../../core/errors.ts'
import { MAX_LEAD_MS } from '../../core/schedule/firing/early-firing.ts'
import { publicId } from '../../core/ids.ts'
import type { FinishedAttempt } from '../../core/wire/protocol.ts'
import { CLOCK_TOLERANCE_MS } from '../../core/trusted-clock.ts'
import { COMPAT_QUEUE } from '../../core/queue/default-queues.ts'
import type { NodeStore, StoredSession } from '../../store/port.ts'
import { exchange, type ExchangeContext } from '../workers/exchange.ts'
import type { RequestOrigin, SessionRegistry } from '../workers/session-registry.ts'
import type { SessionIndex } from '../sessions/session-index.ts'
import type { HeldLease, Session } from '../sessions/session.ts'

/** A worker by the name it gave itself, and where it looks for work. */
export interface CompatWorker {
  readonly id: string
  /** Its token, and the project it works in. */
  readonly origin: RequestOrigin
  /** It may serve the jobs of all projects. */
  readonly isEverywhere: boolean
}

/**
 * Sessions for workers of protocols without sessions. Such a worker has one slot, so it holds at
 * most one lease, and every request of it is a heartbeat. It may use any node: a node that does not
 * know it reads its lease from the store and adopts it.
 */
export interface CompatSessions {
  /** Registers a worker, or registers it again with the lease it held. */
  register(worker: CompatWorker): Promise<Session>
  /** Returns its session after a heartbeat. A worker that has not registered is refused. */
  heartbeat(worker: CompatWorker): Promise<Session>
  /** The lease it holds, or a new one; undefined when there is none within `waitMs`. */
  take(session: Session, waitMs: number, origin: RequestOrigin): Promise<HeldLease | undefined>
  /** False if the worker no longer held the attempt. */
  end(
    session: Session,
    lease: HeldLease,
    outcome: Omit<FinishedAttempt, 'run' | 'fence'>,
  ): Promise<boolean>
}

interface CompatSessionsDeps {
  /** A secret that identifies this installation. */
  readonly installation: string
  readonly ttlMs: number
  readonly store: Pick<NodeStore, 'loadSession'>
  readonly sessionIndex: SessionIndex
  readonly registry: SessionRegistry
  readonly exchanging: ExchangeContext
  storeNow(): number
}

export function createCompatSessions(deps: CompatSessionsDeps): CompatSessions {
  const { ttlMs, registry, exchanging } = deps
  const arrive = createArrival(deps)

  const findOrRegister = async (worker: CompatWorker, isNew: boolean): Promise<Session> => {
    const session = await arrive(worker, isNew)
    const held = Array.from(session.leases.values(), ({ runId, fence }) => ({
      run: publicId('run', runId),
      fence,
    }))
    registry.heartbeat(session, { registration: session.registration, answered: 0, held })
    return session
  }

  const heldBy = (session: Session) => session.leases.values().next().value

  /** Such a worker never confirms an exchange: its grant is repeated until it ends. */
  const speak = (
    session: Session,
    input: { done: readonly FinishedAttempt[]; free: number; waitMs: number },
    origin?: RequestOrigin,
  ) => {
    const { registration, exchange: last } = session
    const message = { registration, number: last + 1, answered: 0, ...input }
    return exchange(session, message, exchanging, origin)
  }

  const end: CompatSessions['end'] = async (session, { runId, fence }, outcome) => {
    const done = [{ run: publicId('run', runId), fence, ...outcome }]
    const { verdicts } = await speak(session, { done, free: 0, waitMs: 0 })
    return verdicts[0] === 'accepted'
  }

  return {
    register: (worker) => findOrRegister(worker, true),
    heartbeat: (worker) => findOrRegister(worker, false),

    async take(session, waitMs, origin) {
      const held = heldBy(session)
      if (held && !held.cancelling) return held
      // A worker that asks for work runs nothing, so no stop request is needed.
      if (held) await end(session, held, { outcome: 'cancelled' })
      // Well before its silence would count against it.
      await speak(session, { done: [], free: 1, waitMs: Math.min(waitMs, ttlMs / 2) }, origin)
      return heldBy(session)
    },

    end,
  }
}

/**
 * Finds or registers the session of a worker. One request at a time per worker: two must not replace
 * each other's session.
 */
function createArrival(
  deps: CompatSessionsDeps,
): (worker: CompatWorker, isNew: boolean) => Promise<Session> {
  const { installation, ttlMs, store, sessionIndex, registry } = deps
  const arriving = new Map<number, Promise<void>>()

  /**
   * Derives the session id from the token and the name, so it is the same on every node. A worker
   * that serves all projects differs from one that serves a single one, and the id cannot be
   * guessed.
   */
  const sessionOf = ({ id, origin, isEverywhere }: CompatWorker): number => {
    const where = isEverywhere ? '*' : origin.project
    const name = [installation, 'plain worker', origin.principal.id, where, id].join('\n')
    return Number.parseInt(hash('sha256', name).slice(0, 13), 16)
  }

  const enter = async (worker: CompatWorker, recalled: StoredSession | null) => {
    // The worker does not know of a run that fired ahead: it is returned, and granted when its time
    // has come.
    const now = deps.storeNow()
    // A start far ahead comes from a clock that has been set back since.
    const isGiven = (startedAt: number) =>
      startedAt <= now || startedAt > now + MAX_LEAD_MS + CLOCK_TOLERANCE_MS
    const known = recalled?.held.filter(({ startedAt }) => isGiven(startedAt)) ?? []
    const held = known.map(({ runId, fence }) => ({ run: publicId('run', runId), fence }))
    await registry.registerWithId(
      {
        name: worker.id,
        ...(worker.isEverywhere ? { projects: [] } : {}),
        queues: [COMPAT_QUEUE],
        labels: {},
        slots: 1,
        executors: ['shell', 'argv', 'script'],
        registration: (recalled?.registration ?? 0) + 1,
        held,
        forsaken: [],
      },
      worker.origin,
      { id: sessionOf(worker), isNew: recalled === null, ttlMs },
    )
  }

  /** Its session, if the worker has not used another node since. */
  const current = (worker: CompatWorker, recalled: StoredSession | null) => {
    const session = sessionIndex.sessions.get(sessionOf(worker))
    return session?.registration === recalled?.registration ? session : undefined
  }

  const arrive = async (worker: CompatWorker, isNew: boolean): Promise<void> => {
    const recalled = await store.loadSession({ session: sessionOf(worker) })
    if (!recalled && !isNew) throw unknownWorker(worker)
    if (!current(worker, recalled)) await enter(worker, recalled)
  }

  return async (worker, isNew) => {
    const id = sessionOf(worker)
    const before = arriving.get(id) ?? Promise.resolve()
    const arrival = before.catch(() => {}).then(() => arrive(worker, isNew))
    arriving.set(id, arrival)
    try {
      await arrival
    } finally {
      if (arriving.get(id) === arrival) arriving.delete(id)
    }
    const session = sessionIndex.sessions.get(id)
    if (!session || session.isEnded) throw unknownWorker(worker)
    return session
  }
}

function unknownWorker({ id }: CompatWorker): PunctualError {
  return new PunctualError('worker_not_found', `no worker ${id} has registered`)
}
