import { setTimeout as pause } from 'node:timers/promises'
import { startChild } from '../harness/child.ts'
import { childrenCpuMs } from '../harness/process-cpu.ts'
import { measureAndExit, readVariantSettings } from '../harness/variant-process.ts'

export interface BareSpawnSettings {
  readonly processes: number
  /** Children at once, over all processes together. */
  readonly concurrency: number
  /** Memory that each process holds during the measurement. */
  readonly heldMb: number
  /** Whether the processes read the output of `true`, as a scheduler that stores output must. */
  readonly readsOutput: boolean
  readonly warmUpSeconds: number
  readonly seconds: number
}

/** Measures the ceiling: `child_process.spawn` from fresh processes that share the concurrency. */
measureAndExit(async () => {
  const { processes, warmUpSeconds, seconds, ...settings } =
    readVariantSettings() as BareSpawnSettings
  const concurrency = settings.concurrency / processes
  const spawners = Array.from({ length: processes }, () =>
    startChild('spawner.js', { ...settings, concurrency }),
  )
  const sample = async () => {
    for (const spawner of spawners) spawner.sendCommand('count')
    const counts = await Promise.all(spawners.map((spawner) => spawner.nextMessage('count')))
    const ended = counts.reduce((sum, count) => sum + (count['ended'] as number), 0)
    return { ended, at: performance.now(), startingMs: childrenCpuMs(process.pid) ?? NaN }
  }
  // A spawner answers only once it has allocated its memory.
  await sample()
  await pause(warmUpSeconds * 1000)
  const first = await sample()
  await pause(seconds * 1000)
  const last = await sample()
  await Promise.all(spawners.map((spawner) => spawner.stop()))
  const runs = last.ended - first.ended
  return {
    runsPerSecond: runs / ((last.at - first.at) / 1000),
    startingUs: ((last.startingMs - first.startingMs) * 1000) / runs,
  }
})
