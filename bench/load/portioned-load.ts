import type { Measurements } from '../harness/scenario.ts'
import type { System } from '../systems/system.ts'
import { meterCpu } from './cpu-meter.ts'

/** A load offered in portions, each measured from its first submission to its last durable end. */
export interface PortionedLoad {
  /** Not measured. */
  warmUp(): Promise<void>
  /** Offers this share of the whole load. */
  offer(share: number): Promise<Portion>
  /** Closes the system and throws unless the store has exactly the runs that were offered. */
  close(): Promise<void>
}

export interface Portion {
  readonly runs: number
  readonly seconds: number
}

/** Offers a portion and measures the processor time it takes. */
export async function measurePortion(
  load: PortionedLoad,
  share: number,
  system: System,
  postgresPid?: number,
): Promise<Portion & { cpuPerRun: Record<string, number> }> {
  const cpu = await meterCpu(system, postgresPid)
  const portion = await load.offer(share)
  return { ...portion, cpuPerRun: await cpu.perRun(portion.runs) }
}

/** Warms up and measures the whole load as one portion. */
export async function measureWhole(
  load: PortionedLoad,
  system: System,
  postgresPid?: number,
): Promise<Measurements> {
  await load.warmUp()
  const { runs, seconds, cpuPerRun } = await measurePortion(load, 1, system, postgresPid)
  await load.close()
  return { runsPerSecond: runs / seconds, seconds, ...cpuPerRun }
}
