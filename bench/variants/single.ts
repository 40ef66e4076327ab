import { measureAndExit, readVariantSettings } from '../harness/variant-process.ts'
import { type CallerSettings, startCallers } from '../load/callers.ts'
import { measureWhole } from '../load/portioned-load.ts'
import { openSystem } from '../systems/open.ts'

/** Measures callers that each submit one run, wait until it is durable, and submit the next. */
measureAndExit(async () => {
  const settings = readVariantSettings() as CallerSettings
  const system = await openSystem(settings)
  return measureWhole(await startCallers(system, settings), system, settings.postgresPid)
})
