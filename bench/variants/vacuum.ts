import { median } from '../harness/statistics.ts'
import { measureAndExit, readVariantSettings, verify } from '../harness/variant-process.ts'
import { createClosedLoop, type LoopPlan } from '../load/closed-loop.ts'
import { meterCpu } from '../load/cpu-meter.ts'
import { loadFor, lowestMean } from '../load/steady-load.ts'
import { openSystem } from '../systems/open.ts'
import type { SystemSettings } from '../systems/system.ts'
import { queryOnce } from '../../test/support/postgres-query.ts'

export interface VacuumSettings extends SystemSettings, Omit<LoopPlan, 'runs'> {
  /** Duration of each of the three loads. */
  readonly seconds: number
}

const WARM_UP_SECONDS = 3
const WINDOW_SECONDS = 3
const HOT_TABLES = ['ready', 'lease', 'timer', 'blocked'].map((table) => `punctual.${table}`)

/**
 * A vacuum that finds the hot tables empty leaves planner statistics that can make every later batch join
 * the whole table with the whole array. Vacuums once between two loads and once under full load.
 */
measureAndExit(async () => {
  const settings = readVariantSettings() as VacuumSettings
  const system = await openSystem(settings)
  const loop = createClosedLoop()
  await system.work(loop.handled)
  const load = (seconds: number) => loadFor(seconds, loop, system, settings)
  const postgresUs: number[] = []
  /** PostgreSQL's processor time per run distinguishes a bad plan from a busy machine. */
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
