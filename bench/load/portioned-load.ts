import type { Measurements } from '../harness/scenario.ts'
import type { System } from '../systems/system.ts'
import { meterCpu } from './cpu-meter.ts'

/** A load that is offered in portions, each from its first submission to its last durable end. */
export interface Portions {
  /** Nobody is charged for it. */
  warmUp(): Promise<void>
  /** This share of the whole. */
  offer(share: number): Promise<Portion>
  /** Ends the system, and throws if the store has seen anything else. */
  close(): Promise<void>
}

export interface Portion {
  readonly runs: number
  readonly seconds: number
}

/** A portion, and the processor time it took. */
export async function measurePortion(
  load: Portions,
  share: number,
  system: System,
  postgresPid?: number,
): Promise<Portion & { cpuPerRun: Record<string, number> }> {
  const cpu = await meterCpu(system, postgresPid)
  const portion = await load.offer(share)
  return { ...portion, cpuPerRun: await cpu.perRun(portion.runs) }
}

/** All of it at once. */
export async function measureWhole(
  load: Portions,
  system: System,
  postgresPid?: number,
): Promise<Measurements> {
  await load.warmUp()
  const { runs, seconds, cpuPerRun } = await measurePortion(load, 1, system, postgresPid)
  await load.close()
  return { runsPerSecond: runs / seconds, seconds, ...cpuPerRun }
}
