import { setTimeout as pause } from 'node:timers/promises'
import { startChild } from '../harness/child.ts'
import { childrenCpuMs } from '../harness/process-cpu.ts'
import { measure, readSettings } from '../harness/variant-process.ts'

export interface BareSpawnSettings {
  readonly processes: number
  /** Of all of them together. */
  readonly concurrency: number
  /** Memory each of them holds all the while. */
  readonly heldMb: number
  /** Whether they read what `true` prints, as everybody must who keeps it. */
  readonly isListening: boolean
  readonly warmUpSeconds: number
  readonly seconds: number
}

/** The ceiling: `child_process.spawn` from fresh processes that share the concurrency. */
measure(async () => {
  const { processes, warmUpSeconds, seconds, ...settings } = readSettings() as BareSpawnSettings
  const concurrency = settings.concurrency / processes
  const spawners = Array.from({ length: processes }, () =>
    startChild('spawner.js', { ...settings, concurrency }),
  )
  const look = async () => {
    for (const spawner of spawners) spawner.tell('count')
    const counts = await Promise.all(spawners.map((spawner) => spawner.next('count')))
    const ended = counts.reduce((sum, count) => sum + (count['ended'] as number), 0)
    return { ended, at: performance.now(), startingMs: childrenCpuMs(process.pid) ?? NaN }
  }
  // Nobody answers before everything it holds is there.
  await look()
  await pause(warmUpSeconds * 1000)
  const first = await look()
  await pause(seconds * 1000)
  const last = await look()
  await Promise.all(spawners.map((spawner) => spawner.stop()))
  const runs = last.ended - first.ended
  return {
    runsPerSecond: runs / ((last.at - first.at) / 1000),
    startingUs: ((last.startingMs - first.startingMs) * 1000) / runs,
  }
})
