import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { onWords, readSettings, say } from '../harness/variant.ts'
import { startLoneRuns } from '../load/lone-run.ts'
import type { System, SystemSettings } from '../systems/system.ts'

export interface ProbeSettings extends SystemSettings {
  /** The working tree whose system is measured. */
  readonly tree: string
}

/** A system of any working tree that has one run whenever it is told to, and says how long it took. */
const settings = readSettings() as ProbeSettings
const { openSystem } = (await import(
  pathToFileURL(join(settings.tree, 'bench/systems/open.ts')).href
)) as { openSystem(settings: SystemSettings): Promise<System> }
const runs = await startLoneRuns(await openSystem(settings))
say('ready')

async function hear(word: string): Promise<void> {
  if (word === 'sample') say('sampled', { waitMs: await runs.sample() })
  else if (word === 'close') say('closed', { ended: await runs.close() })
}

onWords(
  (word) => void hear(word),
  () => process.exit(0),
)
