import { measure, readSettings } from '../harness/variant-process.ts'
import { type BatchSettings, startBatches } from '../load/batches.ts'
import { measureWhole } from '../load/portioned-load.ts'
import { openSystem } from '../systems/open.ts'

/** From the first submission to the last durable end, after a warm-up nobody is charged for. */
measure(async () => {
  const settings = readSettings() as BatchSettings
  const system = await openSystem(settings)
  return measureWhole(await startBatches(system, settings), system, settings.postgresPid)
})
