import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { machineMonoNs } from '../clock/system-clock.ts'
import type { Note, ThreadData } from './messages.ts'

/** Started as source in development and compiled in the package: next to this file either way. */
const MAIN = fileURLToPath(new URL(`./thread-main${import.meta.url.slice(-3)}`, import.meta.url))
/** Nobody can stop a function that does not return; at some point it has to count as lost. */
const PATIENCE_MS = 300_000
const MS = 1_000_000

/**
 * A thread that beats while the worker's own is too busy to: a handler that computes for a minute
 * keeps every timer of its thread waiting, and would cost the worker its lease and all its attempts.
 * As long as the worker beats by itself, the thread sleeps.
 */
export interface Pacemaker {
  /** The worker beats, and this is what it says: to be repeated if it falls silent. */
  note(note: Note): void
  /** An answer came: the lease is kept this much longer. */
  renew(leftMs: number): void
  /** What was said last is not to be repeated. */
  rest(): void
  /** How long the lease is kept by what either of them did. */
  leftMs(): number
  close(): void
}

export function startPacemaker({
  lifeline,
  patienceMs = PATIENCE_MS,
  onError,
}: {
  lifeline: number | undefined
  patienceMs?: number
  onError(error: unknown): void
}): Pacemaker {
  const until = new BigInt64Array(new SharedArrayBuffer(8))
  const workerData: ThreadData = { until, lifeline, patienceMs }
  const thread = new Worker(MAIN, { workerData, resourceLimits: { maxOldGenerationSizeMb: 64 } })
  thread.unref()
  // Without it the worker is what it was before: fine, unless a handler takes very long.
  thread.once('error', onError)

  return {
    note: (note) => thread.postMessage(note),
    renew(leftMs) {
      Atomics.store(until, 0, machineMonoNs() + BigInt(Math.max(0, Math.floor(leftMs * MS))))
    },
    rest: () => thread.postMessage(null),
    leftMs: () => Number(Atomics.load(until, 0) - machineMonoNs()) / MS,
    close: () => void thread.terminate(),
  }
}
