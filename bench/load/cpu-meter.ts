import type { System } from '../systems/system.ts'
import { treeCpuMs } from '../harness/process-cpu.ts'

export interface CpuMeter {
  /**
   * Processor time per run in microseconds for each process that exists: `clientUs`, `serverUs`,
   * `postgresUs`. Other processes on the machine affect it much less than they affect rates.
   */
  perRun(runs: number): Promise<Record<string, number>>
}

export async function meterCpu(system: System, postgresPid?: number): Promise<CpuMeter> {
  const before = await readCpuMs(system, postgresPid)
  return {
    async perRun(runs) {
      const after = await readCpuMs(system, postgresPid)
      return Object.fromEntries(
        [...after].map(([name, ms]) => [name, ((ms - before.get(name)!) * 1000) / runs]),
      )
    },
  }
}

async function readCpuMs(system: System, postgresPid?: number): Promise<Map<string, number>> {
  const { user, system: kernel } = process.cpuUsage()
  const server = await system.otherCpuMs?.()
  const postgres = postgresPid === undefined ? undefined : treeCpuMs(postgresPid)
  return new Map([
    ['clientUs', (user + kernel) / 1000],
    ...(server === undefined ? [] : [['serverUs', server] as const]),
    ...(postgres === undefined ? [] : [['postgresUs', postgres] as const]),
  ])
}
