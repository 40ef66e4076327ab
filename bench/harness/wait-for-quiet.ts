import { cpus } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { treeCpuMs } from './process-cpu.ts'

const SAMPLE_MS = 400
const QUIET_CORES = 0.25

/**
 * Waits, within reason, until nobody else uses the machine: two cores shared with a compiler measure
 * the compiler.
 */
export async function waitForQuiet(patienceMs: number): Promise<void> {
  const deadline = performance.now() + patienceMs
  while (performance.now() < deadline) {
    const others = watchOthers(undefined)
    await pause(SAMPLE_MS)
    if (others.cores() < QUIET_CORES) return
  }
}

/**
 * How many cores others used since the watch began: all that was busy, less our own processes and
 * the database's. A round that was disturbed can so be told from one that was not.
 */
export function watchOthers(postgresPid: number | undefined): { cores(): number } {
  const startedAt = performance.now()
  const before = othersMs(postgresPid)
  return {
    cores: () => Math.max(0, (othersMs(postgresPid) - before) / (performance.now() - startedAt)),
  }
}

function othersMs(postgresPid: number | undefined): number {
  const ours = treeCpuMs(process.pid) ?? 0
  const database = postgresPid === undefined ? 0 : (treeCpuMs(postgresPid) ?? 0)
  return busyMs() - ours - database
}

function busyMs(): number {
  return cpus().reduce((sum, { times }) => sum + times.user + times.sys + times.nice + times.irq, 0)
}
