import { constants, copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startChild } from '../harness/child.ts'
import type { BenchOptions } from '../harness/options.ts'
import type { Figure, Scenario, Variant } from '../harness/scenario.ts'
import { syncFile } from '../harness/sync-file.ts'
import type { Workbench } from '../harness/environment.ts'
import { CPU_DETAILS, POSTGRES_LOAD, RUNS_PER_SECOND, SQLITE_LOAD } from './default-loads.ts'
import { databasePid, freshStore } from './stores.ts'

type Kind = 'sqlite' | 'postgres'

const KINDS: readonly Kind[] = ['sqlite', 'postgres']
const LONG = { finished: 2_000_000, future: 1_000_000 }
const SHORT = { finished: 200_000, future: 100_000 }
const LENGTH: Record<Kind, number> = { sqlite: 4, postgres: 2 }
const sizes = ({ quick }: BenchOptions) => (quick ? SHORT : LONG)

/** Made once: filling a store takes longer than copying it. */
async function prepare(bench: Workbench, options: BenchOptions): Promise<string[]> {
  const server = bench.postgres!
  const templates = {
    sqlite: `sqlite:${join(bench.home, 'history.db')}`,
    postgres: await server.createDatabase(),
  }
  for (const kind of KINDS) {
    const startedAt = performance.now()
    const child = startChild('fill-history.ts', { store: templates[kind], ...sizes(options) })
    await child.next('result')
    await child.stop()
    bench.templates.set(kind, templates[kind])
    const seconds = Math.round((performance.now() - startedAt) / 1000)
    console.error(`history: the ${kind} store is filled (${seconds} s)`)
  }
  return []
}

async function copyOf(bench: Workbench, kind: Kind): Promise<string> {
  const template = bench.templates.get(kind)!
  if (kind === 'postgres') return bench.database(template)
  const path = join(await bench.directory(), 'punctual.db')
  await copyFile(template.slice('sqlite:'.length), path, constants.COPYFILE_FICLONE)
  await syncFile(path)
  return `sqlite:${path}`
}

function load(kind: Kind, isFull: boolean): Variant {
  return {
    name: `${kind} ${isFull ? 'full' : 'empty'}`,
    script: 'throughput.ts',
    arrange: async (bench, options) => ({
      ...{ system: 'punctual-in-process', purpose: 'throughput' },
      ...databasePid(bench, kind),
      store: isFull ? await copyOf(bench, kind) : await freshStore(bench, kind),
      ...(kind === 'sqlite' ? SQLITE_LOAD : POSTGRES_LOAD),
      // Compared with itself alone, so it may take as long as a steady figure takes.
      runs: options.seconds * RUNS_PER_SECOND * LENGTH[kind],
      endedBefore: isFull ? sizes(options).finished : 0,
    }),
  }
}

function figures(kind: Kind, label: string): Figure[] {
  const about = { measurement: 'runsPerSecond', unit: 'runs/s' } as const
  const targets = [{ rivals: [`${kind} empty`], atLeast: 0.9 }]
  return [
    { label: `${label}, empty`, variant: `${kind} empty`, ...about },
    { label: `${label}, with history and future`, variant: `${kind} full`, ...about, targets },
  ]
}

export const history: Scenario = {
  name: 'history',
  about: `The rate of a store with ${LONG.finished.toLocaleString('en-US')} finished and ${LONG.future.toLocaleString('en-US')} future runs, beside an empty one.`,
  needsPostgres: true,
  needsPeers: false,
  prepare,
  variants: KINDS.flatMap((kind) => [load(kind, false), load(kind, true)]),
  figures: [...figures('sqlite', 'SQLite'), ...figures('postgres', 'PostgreSQL')],
  details: CPU_DETAILS,
  notes: [
    'In-process. Each round starts from a copy of the filled store; its rows are copies of rows that Punctual wrote.',
    '`--quick` fills in a tenth.',
  ],
}
