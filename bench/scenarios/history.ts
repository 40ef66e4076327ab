import { constants, copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startChild } from '../harness/child.ts'
import type { BenchOptions } from '../harness/options.ts'
import type { Figure, BenchScenario, Variant } from '../harness/scenario.ts'
import { syncFile } from '../harness/sync-file.ts'
import type { BenchEnvironment } from '../harness/environment.ts'
import { CPU_DETAILS, POSTGRES_LOAD, RUNS_PER_SECOND, SQLITE_LOAD } from './default-loads.ts'
import { databasePid, freshStore } from './stores.ts'

type StoreKind = 'sqlite' | 'postgres'

const STORE_KINDS: readonly StoreKind[] = ['sqlite', 'postgres']
const FULL_SIZES = { finished: 2_000_000, future: 1_000_000 }
const QUICK_SIZES = { finished: 200_000, future: 100_000 }
const LENGTH_FACTOR: Record<StoreKind, number> = { sqlite: 4, postgres: 2 }
const sizesFor = ({ quick }: BenchOptions) => (quick ? QUICK_SIZES : FULL_SIZES)

/** Fills each store once as a template, because filling takes longer than copying. */
async function prepare(bench: BenchEnvironment, options: BenchOptions): Promise<string[]> {
  const server = bench.postgres!
  const templates = {
    sqlite: `sqlite:${join(bench.home, 'history.db')}`,
    postgres: await server.createDatabase(),
  }
  for (const kind of STORE_KINDS) {
    const startedAt = performance.now()
    const child = startChild('fill-history.ts', { store: templates[kind], ...sizesFor(options) })
    await child.nextMessage('result')
    await child.stop()
    bench.templates.set(kind, templates[kind])
    const seconds = Math.round((performance.now() - startedAt) / 1000)
    console.error(`history: the ${kind} store is filled (${seconds} s)`)
  }
  return []
}

async function copyTemplate(bench: BenchEnvironment, kind: StoreKind): Promise<string> {
  const template = bench.templates.get(kind)!
  if (kind === 'postgres') return bench.database(template)
  const path = join(await bench.directory(), 'punctual.db')
  await copyFile(template.slice('sqlite:'.length), path, constants.COPYFILE_FICLONE)
  await syncFile(path)
  return `sqlite:${path}`
}

function loadVariant(kind: StoreKind, isFull: boolean): Variant {
  return {
    name: `${kind} ${isFull ? 'full' : 'empty'}`,
    script: 'throughput.ts',
    arrange: async (bench, options) => ({
      system: 'punctual-in-process',
      purpose: 'throughput',
      ...databasePid(bench, kind),
      store: isFull ? await copyTemplate(bench, kind) : await freshStore(bench, kind),
      ...(kind === 'sqlite' ? SQLITE_LOAD : POSTGRES_LOAD),
      // Longer than elsewhere, for a steady figure: no peer has to run the same number of runs.
      runs: options.seconds * RUNS_PER_SECOND * LENGTH_FACTOR[kind],
      endedBefore: isFull ? sizesFor(options).finished : 0,
    }),
  }
}

function figures(kind: StoreKind, label: string): Figure[] {
  const about = { measurement: 'runsPerSecond', unit: 'runs/s' } as const
  const targets = [{ baselines: [`${kind} empty`], atLeast: 0.9 }]
  return [
    { label: `${label}, empty`, variant: `${kind} empty`, ...about },
    { label: `${label}, with history and future`, variant: `${kind} full`, ...about, targets },
  ]
}

export const historyScenario: BenchScenario = {
  name: 'history',
  about: `The rate of a store with ${FULL_SIZES.finished.toLocaleString('en-US')} finished and ${FULL_SIZES.future.toLocaleString('en-US')} future runs, compared with an empty one.`,
  needsPostgres: true,
  needsPeers: false,
  prepare,
  variants: STORE_KINDS.flatMap((kind) => [loadVariant(kind, false), loadVariant(kind, true)]),
  figures: [...figures('sqlite', 'SQLite'), ...figures('postgres', 'PostgreSQL')],
  details: CPU_DETAILS,
  notes: [
    'In-process. Each round starts from a copy of the filled store; its rows are copies of rows that Punctual wrote.',
    '`--quick` fills in a tenth.',
  ],
}
