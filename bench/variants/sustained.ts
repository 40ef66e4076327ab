import pg from 'pg'
import { measureAndExit, readVariantSettings, verify } from '../harness/variant-process.ts'
import { createClosedLoop, type LoopPlan } from '../load/closed-loop.ts'
import { meterCpu } from '../load/cpu-meter.ts'
import { loadFor, mean } from '../load/steady-load.ts'
import { openSystem } from '../systems/open.ts'
import type { SystemSettings } from '../systems/system.ts'

export interface SustainedSettings extends SystemSettings, Omit<LoopPlan, 'runs'> {
  readonly seconds: number
  /** Holds a forgotten transaction open: PostgreSQL cannot vacuum rows that die after it began. */
  readonly holdSnapshot: boolean
}

const WARM_UP_SECONDS = 2
const TAIL_SECONDS = 10

measureAndExit(async () => {
  const settings = readVariantSettings() as SustainedSettings
  const system = await openSystem(settings)
  const loop = createClosedLoop()
  await system.work(loop.handled)
  await loadFor(WARM_UP_SECONDS, loop, system, settings)

  const forgotten = new pg.Client({ connectionString: settings.store })
  await forgotten.connect()
  if (settings.holdSnapshot) {
    await forgotten.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
    // The snapshot is taken by the first statement, not by BEGIN.
    await forgotten.query('SELECT count(*) FROM pg_class')
  }
  const meter = await meterCpu(system, settings.postgresPid)
  const before = loop.count
  const rates = await loadFor(settings.seconds, loop, system, settings)
  const cpuPerRun = await meter.perRun(loop.count - before)
  await forgotten.end()

  await system.close()
  verify('runs ended', loop.count, await system.countEnded())
  return { runsPerSecond: mean(rates), lastSeconds: mean(rates.slice(-TAIL_SECONDS)), ...cpuPerRun }
})
