import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { startChild } from '../harness/child.ts'
import { runNpm } from '../harness/run-npm.ts'
import type { BenchOptions } from '../harness/options.ts'
import type { Figure, BenchScenario, Unit, Variant } from '../harness/scenario.ts'
import type { BenchEnvironment } from '../harness/environment.ts'
import { freshSqlite } from './stores.ts'

type StoreKind = 'sqlite' | 'postgres'

const STORE_KINDS: readonly StoreKind[] = ['sqlite', 'postgres']
const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const MB = 1_000_000

const FULL_SIZES = {
  middle: 100 * MB,
  long: 1_000 * MB,
  lines: 1_000_000,
  viewers: 500,
  live: 2 * MB,
}
const QUICK_SIZES = { middle: 5 * MB, long: 20 * MB, lines: 50_000, viewers: 20, live: MB }
const sizesFor = ({ quick }: BenchOptions) => (quick ? QUICK_SIZES : FULL_SIZES)

/** Fills the stores once for all rounds, because reading does not change them. */
async function prepare(bench: BenchEnvironment, options: BenchOptions): Promise<string[]> {
  await runNpm(ROOT, ['run', '--silent', 'build'])
  const { middle, long } = sizesFor(options)
  const notes: string[] = []
  for (const kind of STORE_KINDS) {
    const store =
      kind === 'sqlite'
        ? `sqlite:${join(bench.home, 'logs.db')}`
        : await bench.postgres!.createDatabase()
    const child = startChild('logs-fill.ts', { store, sizes: [middle, long] })
    const { logs, seconds } = await child.nextMessage('filled')
    await child.stop()
    bench.templates.set(kind, JSON.stringify({ store, logs }))
    const rate = (middle + long) / MB / Number(seconds)
    notes.push(
      `Filling the ${kind} store took ${Number(seconds).toFixed(0)} s: ${rate.toFixed(0)} MB/s, without a network.`,
    )
    console.error(`logs: ${notes.at(-1)}`)
  }
  return notes
}

function readingVariant(kind: StoreKind): Variant {
  return {
    name: `${kind} reading`,
    script: 'logs-read.ts',
    async arrange(bench, { quick }) {
      const { store, logs } = JSON.parse(bench.templates.get(kind)!) as {
        store: string
        logs: readonly object[]
      }
      return { store, middle: logs[0], long: logs[1], samples: quick ? 10 : 200 }
    },
  }
}

const printingVariant: Variant = {
  name: 'printing',
  script: 'logs-print.ts',
  arrange: async (bench, options) => ({
    store: await freshSqlite(bench),
    lines: sizesFor(options).lines,
  }),
}

const viewingVariant: Variant = {
  name: 'viewing',
  script: 'logs-viewers.ts',
  arrange: async (bench, options) => ({
    store: await freshSqlite(bench),
    viewers: sizesFor(options).viewers,
    bytes: sizesFor(options).live,
  }),
}

function figure(
  label: string,
  variant: string,
  measurement: string,
  { unit = 'ms', atMost }: { unit?: Unit; atMost?: number } = {},
): Figure {
  return { label, variant, measurement, unit, ...(atMost && { targets: [{ atMost }] }) }
}

function readingFigures(kind: StoreKind): Figure[] {
  const variant = `${kind} reading`
  return [
    figure(`${kind}: first page of 100 MB`, variant, 'firstPageMs', { atMost: 50 }),
    figure(`${kind}: any line of 1 GB`, variant, 'seekMs'),
    figure(`${kind}: any line of 1 GB, p99`, variant, 'seekP99Ms', { atMost: 200 }),
    figure(`${kind}: a text at 90 % of 1 GB`, variant, 'literalMs', { atMost: 300 }),
    figure(`${kind}: an expression at 95 % of 1 GB`, variant, 'regexMs', { atMost: 300 }),
    figure(`${kind}: all of 1 GB for an expression that is nowhere`, variant, 'everythingMs'),
    figure(`${kind}: another request meanwhile, p99`, variant, 'lagP99Ms'),
  ]
}

export const logsScenario: BenchScenario = {
  name: 'logs',
  about:
    'Output of any size: how fast it is stored, and how long a client waits for a part of it over HTTP. Sizes are ' +
    'those of a full run; `--quick` uses a fiftieth.',
  needsPostgres: true,
  needsPeers: false,
  prepare,
  variants: [...STORE_KINDS.map(readingVariant), printingVariant, viewingVariant],
  figures: [
    ...STORE_KINDS.flatMap(readingFigures),
    figure('a command prints 1,000,000 lines', 'printing', 'linesPerSecond', { unit: 'lines/s' }),
    figure('500 viewers of one live run: the last has everything', 'viewing', 'lastViewerMs'),
  ],
  details: [{ label: 'printed MB/s', measurement: 'mbPerSecond' }],
  notes: [
    'A page is 500 lines. The lines to find are spread over the whole log, one request for each.',
    'The expression that matches nowhere contains no literal text, so the server decompresses and searches every chunk.',
    'Printing: `yes | head` under the published worker, a server process on SQLite; from the start of the attempt to its end, with everything stored.',
    'Viewers: one process reads all streams; the run prints 2 MB in chunks, five a second. Measured from its end.',
  ],
}
