import { onWords, readSettings, say } from '../harness/variant-process.ts'
import { type BatchSettings, startBatches } from '../load/batches.ts'
import { type CallerSettings, startCallers } from '../load/callers.ts'
import { measurePortion } from '../load/portioned-load.ts'
import { openSystemOf, type TreeSettings } from '../systems/open-tree.ts'

export type RateSettings = TreeSettings & (BatchSettings | CallerSettings)

/** A portion takes a quarter of a second or half of one: long beside its beginning and its end. */
const SHARE = 1 / 8

/** A system of any working tree that is offered a portion of the load whenever it is told to. */
const settings = readSettings() as RateSettings
const system = await openSystemOf(settings)
const load = await ('callers' in settings
  ? startCallers(system, settings)
  : startBatches(system, settings))
say('ready')

async function hear(word: string): Promise<void> {
  if (word === 'warm up') {
    await load.warmUp()
    say('warm')
  } else if (word === 'offer') {
    say('offered', await measurePortion(load, SHARE, system, settings.postgresPid))
  } else if (word === 'close') {
    await load.close()
    say('closed')
  }
}

onWords(
  (word) => void hear(word),
  () => process.exit(0),
)
