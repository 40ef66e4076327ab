import { onWords, readSettings, say } from '../harness/variant-process.ts'
import { startLoneRuns } from '../load/sequential-runs.ts'
import { openSystemOf, type TreeSettings } from '../systems/open-tree.ts'

/** A system of any working tree that has one run whenever it is told to, and says how long it took. */
const runs = await startLoneRuns(await openSystemOf(readSettings() as TreeSettings))
say('ready')

async function hear(word: string): Promise<void> {
  if (word === 'sample') say('sampled', { waitMs: await runs.sample() })
  else if (word === 'close') say('closed', { ended: await runs.close() })
}

onWords(
  (word) => void hear(word),
  () => process.exit(0),
)
