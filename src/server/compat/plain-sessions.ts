import { hash } from 'node:crypto'
import { PunctualError } from '../../core/errors.ts'
import { publicId } from '../../core/ids.ts'
import type { Done } from '../../core/protocol.ts'
import { PLAIN_QUEUE } from '../../core/usual-queues.ts'
import type { NodeStore, RecalledSession } from '../../store/port.ts'
import { exchange, type Exchanging } from '../sessions/exchange.ts'
import type { Registry } from '../sessions/registry.ts'
import type { Roster } from '../sessions/roster.ts'
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
  readonly ttlMs: number
  readonly store: Pick<NodeStore, 'recallSession'>
  readonly roster: Roster
  readonly registry: Registry
  readonly exchanging: Exchanging
}): PlainSessions {
  const { store, roster, registry, exchanging } = deps
  const arriving = new Map<number, Promise<void>>()

  const enter = async (worker: PlainWorker, recalled: RecalledSession | null) => {
    const held = recalled?.held.map(({ runId, fence }) => ({ run: publicId('run', runId), fence }))
    await registry.register(
      {
        ...{ name: worker.id, session: publicId('ses', sessionOf(worker)) },
        ...(worker.isEverywhere ? { projects: [] } : {}),
        ...{ queues: [PLAIN_QUEUE], labels: {}, slots: 1 },
        executors: ['shell', 'argv', 'script'],
        registration: (recalled?.registration ?? 0) + 1,
        ...{ held: held ?? [], forsaken: [] },
      },
      worker.project,
      deps.ttlMs,
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
    const arrival = arriving.get(id) ?? arrive(worker, isNew).finally(() => arriving.delete(id))
    arriving.set(id, arrival)
    await arrival
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
      await speak(session, { done: [], free: 1, waitMs })
      return heldBy(session)
    },

    end,
  }
}

/** The same number for the same name, whichever node is asked. */
function sessionOf({ project, id }: PlainWorker): number {
  return Number.parseInt(hash('sha256', `plain worker\n${project}\n${id}`).slice(0, 13), 16)
}

function unknownWorker({ id }: PlainWorker): PunctualError {
  return new PunctualError('worker_not_found', `no worker ${id} has registered`)
}
