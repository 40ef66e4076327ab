import { openScheduler } from '../../src/main/scheduler.ts'
import { startSimulatedRun } from '../load/simulated-run.ts'
import { type PrintedChunk, printedChunks } from '../load/generated-output.ts'
import { onCommands, readVariantSettings, sendMessage } from '../harness/variant-process.ts'

export interface FillSettings {
  readonly store: string
  /** One log of each size. */
  readonly sizes: readonly number[]
}

/** As many chunks as a worker sends in one request. */
const CHUNKS_PER_REQUEST = 3

/** Fills a store with logs through the code path of a worker's messages, without the network. */
const { store, sizes } = readVariantSettings() as FillSettings
onCommands(
  () => {},
  () => process.exit(0),
)
const scheduler = await openScheduler({ store })
const logs: { id: string; lines: number }[] = []
const startedMs = performance.now()
for (const size of sizes) {
  const run = await startSimulatedRun(scheduler.clientFor('default'))
  let pending: PrintedChunk[] = []
  let lines = 0
  for (const chunk of printedChunks(size)) {
    pending.push(chunk)
    lines += chunk.lines
    if (pending.length < CHUNKS_PER_REQUEST) continue
    await run.print(pending)
    pending = []
  }
  if (pending.length > 0) await run.print(pending)
  await run.end()
  logs.push({ id: run.id, lines })
}
const seconds = (performance.now() - startedMs) / 1_000
await scheduler.stop()
sendMessage('filled', { logs, seconds })
