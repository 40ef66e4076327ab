import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { machineMonoNs } from '../clock/system-clock.ts'
import type { LastHeartbeat, ThreadData } from './messages.ts'

/** Source in development, compiled in the package: next to this file in both cases. */
const MAIN = fileURLToPath(new URL(`./thread-main${import.meta.url.slice(-3)}`, import.meta.url))
/** A function that does not return cannot be stopped; after this time it counts as lost. */
const PATIENCE_MS = 300_000
const MS = 1_000_000

/**
 * A thread that sends heartbeats while the worker's own thread is too busy: a handler that computes
 * for a minute blocks every timer of its thread, which would cost the worker its lease and all its
 * attempts. While the worker sends heartbeats itself, this thread sleeps.
 */
export interface HeartbeatThread {
  /** Remembers the heartbeat that the worker sends, to repeat it if the worker falls silent. */
  remember(note: LastHeartbeat): void
  /** The server answered: the lease is held for this much longer. */
  renew(leftMs: number): void
  /** Stops repeating the last heartbeat. */
  pause(): void
  /** The remaining time of the lease, by the renewals of both threads. */
  leftMs(): number
  close(): void
}

export function startHeartbeatThread({
  lifeline,
  patienceMs = PATIENCE_MS,
  onError,
}: {
  lifeline: number | undefined
  patienceMs?: number
  onError(error: unknown): void
}): HeartbeatThread {
  const until = new BigInt64Array(new SharedArrayBuffer(8))
  const workerData: ThreadData = { until, lifeline, patienceMs }
  const thread = new Worker(MAIN, { workerData, resourceLimits: { maxOldGenerationSizeMb: 64 } })
  thread.unref()
  // Without the thread the worker still works, except that long blocking handlers cost the lease.
  thread.once('error', onError)

  return {
    remember: (note) => thread.postMessage(note),
    renew(leftMs) {
      Atomics.store(until, 0, machineMonoNs() + BigInt(Math.max(0, Math.floor(leftMs * MS))))
    },
    pause: () => thread.postMessage(null),
    leftMs: () => Number(Atomics.load(until, 0) - machineMonoNs()) / MS,
    close: () => void thread.terminate(),
  }
}
