import { LIMITS } from '../core/limits.ts'
import {
  createLine,
  type StopReason,
  type Worker,
  type WorkerStats,
} from './sessions/worker-session.ts'
import type { WorkerOptions } from './sessions/worker-options.ts'

export type { StopReason, Worker, WorkerStats } from './sessions/worker-session.ts'

const LINES = 2

/**
 * A worker. With very many slots it keeps two sessions: a session reports and asks in turns, so with
 * one of them the store would rest while the handlers run, and the other way round. Only where each
 * half still has room for the heaviest run there can be.
 */
export function createWorker(options: WorkerOptions): Worker {
  const slots = options.slots ?? 0
  if (slots < LINES * LIMITS.weight) return createLine(options)
  const half = Math.floor(slots / LINES)
  const lines = [half, slots - half].map((share) => createLine({ ...options, slots: share }))
  return together(lines)
}

function together(lines: readonly Worker[]): Worker {
  const drain = async (graceMs: number) => {
    await Promise.all(lines.map((line) => line.drain(graceMs)))
  }
  /** Whatever stops one of them stops the worker. */
  const stop = async (): Promise<StopReason> => {
    const reason = await Promise.race(lines.map((line) => line.stopped))
    await drain(0)
    return reason
  }
  return {
    async start() {
      await Promise.all(lines.map((line) => line.start()))
    },
    drain,
    async kill() {
      await Promise.all(lines.map((line) => line.kill()))
    },
    stopped: stop(),
    stats: () => lines.map((line) => line.stats()).reduce(sum),
  }
}

function sum(a: WorkerStats, b: WorkerStats): WorkerStats {
  return {
    session: a.session,
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
