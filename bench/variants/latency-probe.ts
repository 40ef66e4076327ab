import { onCommands, readVariantSettings, sendMessage } from '../harness/variant-process.ts'
import { startSequentialRuns } from '../load/sequential-runs.ts'
import { openSystemOf, type TreeSettings } from '../systems/open-tree.ts'

/** Opens the system of a working tree; the command `sample` submits one run and reports its latency. */
const runs = await startSequentialRuns(await openSystemOf(readVariantSettings() as TreeSettings))
sendMessage('ready')

async function handleCommand(command: string): Promise<void> {
  if (command === 'sample') sendMessage('sampled', { waitMs: await runs.sample() })
  else if (command === 'close') sendMessage('closed', { ended: await runs.close() })
}

onCommands(
  (command) => void handleCommand(command),
  () => process.exit(0),
)
