import { openScheduler } from '../../src/main/scheduler.ts'
import { playRun } from '../load/simulated-run.ts'
import { type PrintedChunk, printedChunks } from '../load/generated-output.ts'
import { onWords, readSettings, say } from '../harness/variant-process.ts'

export interface FillSettings {
  readonly store: string
  /** One log of each size. */
  readonly sizes: readonly number[]
}

/** As many as a worker sends at once. */
const AT_ONCE = 3

/** Fills a store with logs, the way a worker would, without the network. */
const { store, sizes } = readSettings() as FillSettings
onWords(
  () => {},
  () => process.exit(0),
)
const scheduler = await openScheduler({ store })
const logs: { id: string; lines: number }[] = []
const startedMs = performance.now()
for (const size of sizes) {
  const run = await playRun(scheduler.clientFor('default'))
  let some: PrintedChunk[] = []
  let lines = 0
  for (const chunk of printedChunks(size)) {
    some.push(chunk)
    lines += chunk.lines
    if (some.length < AT_ONCE) continue
    await run.print(some)
    some = []
  }
  if (some.length > 0) await run.print(some)
  await run.end()
  logs.push({ id: run.id, lines })
}
const seconds = (performance.now() - startedMs) / 1_000
await scheduler.stop()
say('filled', { logs, seconds })
