import { onCommands, readVariantSettings, sendMessage } from '../harness/variant-process.ts'
import { type BatchSettings, startBatches } from '../load/batches.ts'
import { type CallerSettings, startCallers } from '../load/callers.ts'
import { measurePortion } from '../load/portioned-load.ts'
import { openSystemOf, type TreeSettings } from '../systems/open-tree.ts'

export type RateSettings = TreeSettings & (BatchSettings | CallerSettings)

/** A portion takes a quarter or half a second, long compared with its ramp-up and its tail. */
const SHARE = 1 / 8

/** Opens the system of a working tree; the command `offer` runs one portion of the load. */
const settings = readVariantSettings() as RateSettings
const system = await openSystemOf(settings)
const load = await ('callers' in settings
  ? startCallers(system, settings)
  : startBatches(system, settings))
sendMessage('ready')

async function handleCommand(command: string): Promise<void> {
  if (command === 'warm up') {
    await load.warmUp()
    sendMessage('warm')
  } else if (command === 'offer') {
    sendMessage('offered', await measurePortion(load, SHARE, system, settings.postgresPid))
  } else if (command === 'close') {
    await load.close()
    sendMessage('closed')
  }
}

onCommands(
  (command) => void handleCommand(command),
  () => process.exit(0),
)
