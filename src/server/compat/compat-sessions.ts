import { hash } from 'node:crypto'
import { PunctualError } from '../../core/errors.ts'
import { publicId } from '../../core/ids.ts'
import type { Done } from '../../core/wire/protocol.ts'
import { PLAIN_QUEUE } from '../../core/queue/default-queues.ts'
import type { NodeStore, RecalledSession } from '../../store/port.ts'
import { exchange, type Exchanging } from '../workers/exchange.ts'
import type { Registry } from '../workers/session-registry.ts'
import type { Roster } from '../sessions/session-index.ts'
import type { HeldLease, Session } from '../sessions/session.ts'

/** A worker by the name it gave itself, and where it may look for work. */
export interface PlainWorker {
  readonly id: string
  readonly project: string
  /** It may serve the jobs of all projects. */
  readonly isEverywhere: boolean
}

/**
 * Sessions for workers that know no sessions. Such a worker has one slot, so what it holds is at most
 * one lease, and every request of it is a heartbeat for that. It may come to any node: a node that
 * does not know it reads what it holds from the store and takes it over.
 */
export interface PlainSessions {
  /** Comes, or comes again with what it held. */
  register(worker: PlainWorker): Promise<Session>
  /** Its session, after a heartbeat. Whoever has not registered is not known. */
  meet(worker: PlainWorker): Promise<Session>
  /** What it holds, or what it is given now; undefined when there is nothing within `waitMs`. */
  take(session: Session, waitMs: number): Promise<HeldLease | undefined>
  /** False if the attempt was no longer its own. */
  end(session: Session, lease: HeldLease, outcome: Omit<Done, 'run' | 'fence'>): Promise<boolean>
}

export function createPlainSessions(deps: {
  /** What tells this installation from others, and nobody outside knows. */
  readonly installation: string
  readonly ttlMs: number
  readonly store: Pick<NodeStore, 'recallSession'>
  readonly roster: Roster
  readonly registry: Registry
  readonly exchanging: Exchanging
  storeNow(): number
}): PlainSessions {
  const { installation, ttlMs, store, roster, registry, exchanging } = deps
  const arriving = new Map<number, Promise<void>>()

  /**
   * The same number for the same name, whichever node is asked. Who serves all projects is another
   * than who serves one, and nobody can work out the number to speak in the name of either.
   */
  const sessionOf = ({ id, project, isEverywhere }: PlainWorker): number => {
    const name = [installation, 'plain worker', isEverywhere ? '*' : project, id].join('\n')
    return Number.parseInt(hash('sha256', name).slice(0, 13), 16)
  }

  const enter = async (worker: PlainWorker, recalled: RecalledSession | null) => {
    // What fired ahead of its time nobody has been told of: it goes back, and is given when that has come.
    const now = deps.storeNow()
    const known = recalled?.held.filter(({ startedAt }) => startedAt <= now) ?? []
    const held = known.map(({ runId, fence }) => ({ run: publicId('run', runId), fence }))
    await registry.register(
      {
        ...{ name: worker.id, session: publicId('ses', sessionOf(worker)) },
        ...(worker.isEverywhere ? { projects: [] } : {}),
        ...{ queues: [PLAIN_QUEUE], labels: {}, slots: 1 },
        executors: ['shell', 'argv', 'script'],
        registration: (recalled?.registration ?? 0) + 1,
        ...{ held, forsaken: [] },
      },
      worker.project,
      ttlMs,
    )
  }

  /** Its session if it is here and nowhere else since: it may have asked another node meanwhile. */
  const current = (worker: PlainWorker, recalled: RecalledSession | null) => {
    const session = roster.sessions.get(sessionOf(worker))
    return session?.registration === recalled?.registration ? session : undefined
  }

  const arrive = async (worker: PlainWorker, isNew: boolean): Promise<void> => {
    const recalled = await store.recallSession({ session: sessionOf(worker) })
    if (!recalled && !isNew) throw unknownWorker(worker)
    if (!current(worker, recalled)) await enter(worker, recalled)
  }

  /** One at a time for each: two requests of one worker must not drive each other out. */
  const inTurn = async (worker: PlainWorker, isNew: boolean): Promise<Session> => {
    const id = sessionOf(worker)
    const before = arriving.get(id) ?? Promise.resolve()
    const arrival = before.catch(() => {}).then(() => arrive(worker, isNew))
    arriving.set(id, arrival)
    try {
      await arrival
    } finally {
      if (arriving.get(id) === arrival) arriving.delete(id)
    }
    const session = roster.sessions.get(id)
    if (!session) throw unknownWorker(worker)
    return session
  }

  const meet = async (worker: PlainWorker, isNew: boolean): Promise<Session> => {
    const session = await inTurn(worker, isNew)
    const held = Array.from(session.leases.values(), ({ runId, fence }) => ({
      ...{ run: publicId('run', runId), fence },
    }))
    registry.heartbeat(session, { registration: session.registration, answered: 0, held })
    return session
  }

  const heldBy = (session: Session) => session.leases.values().next().value

  /** The answer to an earlier exchange is never confirmed: what it granted is repeated until it ends. */
  const speak = (
    session: Session,
    said: { done: readonly Done[]; free: number; waitMs: number },
  ) => {
    const { registration, exchange: last } = session
    const message = { registration, number: last + 1, answered: 0, ...said }
    return exchange(session, message, exchanging)
  }

  const end: PlainSessions['end'] = async (session, { runId, fence }, outcome) => {
    const done = [{ run: publicId('run', runId), fence, ...outcome }]
    const { verdicts } = await speak(session, { done, free: 0, waitMs: 0 })
    return verdicts[0] === 'accepted'
  }

  return {
    register: (worker) => meet(worker, true),
    meet: (worker) => meet(worker, false),

    async take(session, waitMs) {
      const held = heldBy(session)
      if (held && !held.cancelling) return held
      // Whoever asks for work is not at work: nobody has to be told to stop.
      if (held) await end(session, held, { outcome: 'cancelled' })
      // Well before its silence would be held against it.
      await speak(session, { done: [], free: 1, waitMs: Math.min(waitMs, ttlMs / 2) })
      return heldBy(session)
    },

    end,
  }
}

function unknownWorker({ id }: PlainWorker): PunctualError {
  return new PunctualError('worker_not_found', `no worker ${id} has registered`)
}
