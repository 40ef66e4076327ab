import { LIMITS } from '../core/limits.ts'
import {
  createWorkerSession,
  type StopReason,
  type Worker,
  type WorkerStats,
} from './sessions/worker-session.ts'
import type { WorkerOptions } from './sessions/worker-options.ts'

export type { StopReason, Worker, WorkerStats } from './sessions/worker-session.ts'

const SESSIONS = 2

/**
 * Creates a worker. With very many slots it uses two sessions: one session alternates between
 * reporting and running, so the store would idle while the handlers run and vice versa. Only where
 * each half still has enough slots for the heaviest possible run.
 */
export function createWorker(options: WorkerOptions): Worker {
  const slots = options.slots ?? 0
  if (slots < SESSIONS * LIMITS.weight) return createWorkerSession(options)
  const half = Math.floor(slots / SESSIONS)
  const sessions = [half, slots - half].map((share) =>
    createWorkerSession({ ...options, slots: share }),
  )
  return combine(sessions)
}

function combine(sessions: readonly Worker[]): Worker {
  const drain = async (graceMs: number) => {
    await Promise.all(sessions.map((session) => session.drain(graceMs)))
  }
  /** The end of one session stops the whole worker. */
  const stop = async (): Promise<StopReason> => {
    const reason = await Promise.race(sessions.map((session) => session.stopped))
    await drain(0)
    return reason
  }
  return {
    async start() {
      await Promise.all(sessions.map((session) => session.start()))
    },
    drain,
    async kill() {
      await Promise.all(sessions.map((session) => session.kill()))
    },
    stopped: stop(),
    stats: () => sessions.map((session) => session.stats()).reduce(sum),
  }
}

function sum(a: WorkerStats, b: WorkerStats): WorkerStats {
  return {
    worker: a.worker,
    registration: Math.max(a.registration, b.registration),
    free: a.free + b.free,
    running: a.running + b.running,
    unacknowledged: a.unacknowledged + b.unacknowledged,
    taken: a.taken + b.taken,
    lost: a.lost + b.lost,
    exchanges: a.exchanges + b.exchanges,
    heartbeats: a.heartbeats + b.heartbeats,
  }
}
