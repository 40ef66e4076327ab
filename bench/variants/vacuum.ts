import { median } from '../harness/statistics.ts'
import { measure, readSettings, verify } from '../harness/variant-process.ts'
import { createClosedLoop, type LoopPlan } from '../load/closed-loop.ts'
import { meterCpu } from '../load/cpu-meter.ts'
import { loadFor, lowestMean } from '../load/steady-load.ts'
import { openSystem } from '../systems/open.ts'
import type { SystemSettings } from '../systems/system.ts'
import { queryOnce } from '../../test/support/postgres-query.ts'

export interface VacuumSettings extends SystemSettings, Omit<LoopPlan, 'runs'> {
  /** Length of each of the three stretches of load. */
  readonly seconds: number
}

const WARM_UP_SECONDS = 3
const WINDOW_SECONDS = 3
const HOT_TABLES = ['ready', 'lease', 'timer', 'blocked'].map((table) => `punctual.${table}`)

/**
 * The planner trap: a vacuum that finds the hot tables empty leaves statistics that can turn every
 * later batch into whole table × whole array. Vacuums between two loads, and once more in full swing.
 */
measure(async () => {
  const settings = readSettings() as VacuumSettings
  const system = await openSystem(settings)
  const loop = createClosedLoop()
  await system.work(loop.handled)
  const load = (seconds: number) => loadFor(seconds, loop, system, settings)
  const postgresUs: number[] = []
  /** What PostgreSQL needs per run tells a bad plan from a busy machine. */
  const metered = async () => {
    const meter = await meterCpu(system, settings.postgresPid)
    const before = loop.count
    const rates = await load(settings.seconds)
    postgresUs.push((await meter.perRun(loop.count - before))['postgresUs'] ?? NaN)
    return rates
  }
  const vacuum = () => queryOnce(settings.store, `VACUUM (ANALYZE) ${HOT_TABLES.join(', ')}`)

  await load(WARM_UP_SECONDS)
  const before = median(await metered())
  await vacuum()
  const afterEmpty = await metered()
  const busy = metered()
  const [afterBusy] = await Promise.all([busy, vacuum()])

  await system.close()
  verify('runs ended', loop.count, await system.countEnded())
  const after = [...afterEmpty, ...afterBusy]
  return {
    before,
    afterEmpty: median(afterEmpty),
    afterBusy: median(afterBusy),
    lowest: lowestMean(after, WINDOW_SECONDS),
    lowestRatio: lowestMean(after, WINDOW_SECONDS) / before,
    usBefore: postgresUs[0]!,
    usAfterEmpty: postgresUs[1]!,
    usAfterBusy: postgresUs[2]!,
  }
})
