import { cpus } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { treeCpuMs } from './process-cpu.ts'

const SAMPLE_MS = 400
const QUIET_CORES = 0.25

/**
 * Waits until other processes use less than a quarter of a core, or until `patienceMs` has passed.
 * Otherwise a compiler running on the same cores would distort the figures.
 */
export async function waitForQuiet(patienceMs: number): Promise<void> {
  const deadline = performance.now() + patienceMs
  while (performance.now() < deadline) {
    const otherProcesses = watchOtherProcesses(undefined)
    await pause(SAMPLE_MS)
    if (otherProcesses.cores() < QUIET_CORES) return
  }
}

/**
 * Measures how many cores other processes use from now on: total busy time minus the benchmark's own
 * processes and the database's. The report shows it, so that disturbed rounds can be recognised.
 */
export function watchOtherProcesses(postgresPid: number | undefined): { cores(): number } {
  const startedAt = performance.now()
  const before = otherProcessesMs(postgresPid)
  return {
    cores: () =>
      Math.max(0, (otherProcessesMs(postgresPid) - before) / (performance.now() - startedAt)),
  }
}

function otherProcessesMs(postgresPid: number | undefined): number {
  const ours = treeCpuMs(process.pid) ?? 0
  const database = postgresPid === undefined ? 0 : (treeCpuMs(postgresPid) ?? 0)
  return totalBusyMs() - ours - database
}

function totalBusyMs(): number {
  return cpus().reduce((sum, { times }) => sum + times.user + times.sys + times.nice + times.irq, 0)
}
