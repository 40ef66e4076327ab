import { parentPort, workerData } from 'node:worker_threads'
import type { HeartbeatAnswer } from '../../core/wire/protocol.ts'
import { writeLifeline } from '../launcher/lifeline.ts'
import { killMarked } from '../launcher/process-tree.ts'
import { machineMonoNs, systemClock } from '../clock/system-clock.ts'
import type { Note, ThreadData } from './messages.ts'

/** How many heartbeats long it must be silent before somebody else beats. */
const SILENCE = 1.5
const MS = 1_000_000

const { until, lifeline, patienceMs } = workerData as ThreadData
let heard = new AbortController()

parentPort?.on('message', (note: Note | null) => {
  heard.abort()
  heard = new AbortController()
  if (note) void standIn(note, heard.signal)
})

/** Repeats what was said last, until something is said again. */
async function standIn(note: Note, signal: AbortSignal): Promise<void> {
  const silentSince = systemClock.mono()
  let waitMs = note.heartbeatMs * SILENCE
  for (let server = 0; ;) {
    await systemClock.sleep(waitMs, signal)
    if (signal.aborted || !isKept() || systemClock.mono() - silentSince > patienceMs) return
    const outcome = await beat(note, server)
    if (outcome === 'refused') return
    if (outcome === 'failed') server += 1
    waitMs = outcome === 'failed' ? note.heartbeatMs / 3 : note.heartbeatMs
  }
}

/** What has run out is not taken up again: its processes are dead, its attempts given away. */
function isKept(): boolean {
  return machineMonoNs() < Atomics.load(until, 0)
}

async function beat(note: Note, server: number): Promise<'answered' | 'refused' | 'failed'> {
  const { urls, headers, body } = note.post
  const sentNs = machineMonoNs()
  try {
    const signal = AbortSignal.timeout(note.spanMs)
    const url = urls[server % urls.length] as string
    const answer = await fetch(url, { method: 'POST', headers, body, signal })
    if (answer.status >= 500 || answer.status === 429) return 'failed'
    if (!answer.ok) return 'refused'
    const { lost } = (await answer.json()) as HeartbeatAnswer
    keep(sentNs + BigInt(Math.floor(note.spanMs * MS)))
    stopLost(lost, note)
    return 'answered'
  } catch {
    return 'failed'
  }
}

/** Moves the lease on, unless it ran out meanwhile or somebody else moved it further. */
function keep(later: bigint): void {
  for (;;) {
    const now = Atomics.load(until, 0)
    if (now >= later || now <= machineMonoNs()) return
    if (Atomics.compareExchange(until, 0, now, later) !== now) continue
    if (lifeline !== undefined) writeLifeline(lifeline, later)
    return
  }
}

/** Whoever is busy cannot stop them, and they may begin elsewhere at any moment. */
function stopLost(lost: readonly string[], { held }: Note): void {
  if (lost.length === 0 || lifeline === undefined) return
  const runs = new Set(lost)
  for (const one of held) if (runs.has(one.run)) killMarked(one)
}
