import { parentPort, workerData } from 'node:worker_threads'
import type { HeartbeatAnswer } from '../../core/wire/protocol.ts'
import { writeLifeline } from '../launcher/lifeline.ts'
import { killMarked } from '../launcher/process-tree.ts'
import { machineMonoNs, systemClock } from '../clock/system-clock.ts'
import type { LastHeartbeat, ThreadData } from './messages.ts'

/** Heartbeat intervals that the worker's thread must be silent before this thread takes over. */
const SILENT_HEARTBEATS = 1.5
const MS = 1_000_000

const { until, lifeline, patienceMs } = workerData as ThreadData
let superseded = new AbortController()

parentPort?.on('message', (note: LastHeartbeat | null) => {
  superseded.abort()
  superseded = new AbortController()
  if (note) void takeOver(note, superseded.signal)
})

/** Repeats the last heartbeat until the worker sends another one. */
async function takeOver(note: LastHeartbeat, signal: AbortSignal): Promise<void> {
  const silentSince = systemClock.mono()
  let waitMs = note.heartbeatMs * SILENT_HEARTBEATS
  for (let server = 0; ;) {
    await systemClock.sleep(waitMs, signal)
    if (signal.aborted || !isKept() || systemClock.mono() - silentSince > patienceMs) return
    const outcome = await sendHeartbeat(note, server)
    if (outcome === 'refused') return
    if (outcome === 'failed') server += 1
    waitMs = outcome === 'failed' ? note.heartbeatMs / 3 : note.heartbeatMs
  }
}

/** An expired lease is not renewed: its processes are dead and its runs reassigned. */
function isKept(): boolean {
  return machineMonoNs() < Atomics.load(until, 0)
}

async function sendHeartbeat(
  note: LastHeartbeat,
  server: number,
): Promise<'answered' | 'refused' | 'failed'> {
  const { urls, headers, body } = note.post
  const sentNs = machineMonoNs()
  try {
    const signal = AbortSignal.timeout(note.spanMs)
    const url = urls[server % urls.length] as string
    const answer = await fetch(url, { method: 'POST', headers, body, signal })
    if (answer.status >= 500 || answer.status === 429) return 'failed'
    if (!answer.ok) return 'refused'
    const { lost } = (await answer.json()) as HeartbeatAnswer
    renewLease(sentNs + BigInt(Math.floor(note.spanMs * MS)))
    killLost(lost, note)
    return 'answered'
  } catch {
    return 'failed'
  }
}

/** Extends the lease, unless it expired meanwhile or the worker's thread extended it further. */
function renewLease(later: bigint): void {
  for (;;) {
    const now = Atomics.load(until, 0)
    if (now >= later || now <= machineMonoNs()) return
    if (Atomics.compareExchange(until, 0, now, later) !== now) continue
    if (lifeline !== undefined) writeLifeline(lifeline, later)
    return
  }
}

/**
 * Kills the processes of lost attempts: the busy worker cannot, and they may start elsewhere at any
 * moment.
 */
function killLost(lost: readonly string[], { held }: LastHeartbeat): void {
  if (lost.length === 0 || lifeline === undefined) return
  const runs = new Set(lost)
  for (const one of held) if (runs.has(one.run)) killMarked(one)
}
