import { measureAndExit, readVariantSettings } from '../harness/variant-process.ts'
import { type BatchSettings, startBatches } from '../load/batches.ts'
import { measureWhole } from '../load/portioned-load.ts'
import { openSystem } from '../systems/open.ts'

/** Measures from the first submission to the last durable end, after an unmeasured warm-up. */
measureAndExit(async () => {
  const settings = readVariantSettings() as BatchSettings
  const system = await openSystem(settings)
  return measureWhole(await startBatches(system, settings), system, settings.postgresPid)
})
