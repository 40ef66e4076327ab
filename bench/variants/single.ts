import { measure, readSettings } from '../harness/variant-process.ts'
import { type CallerSettings, startCallers } from '../load/callers.ts'
import { measureWhole } from '../load/portioned-load.ts'
import { openSystem } from '../systems/open.ts'

/** Callers that each submit one run, wait for its durable answer, and submit the next. */
measure(async () => {
  const settings = readSettings() as CallerSettings
  const system = await openSystem(settings)
  return measureWhole(await startCallers(system, settings), system, settings.postgresPid)
})
