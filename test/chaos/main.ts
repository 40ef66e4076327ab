import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { readOptions } from '../support/read-options.ts'
import { startPostgres, type PostgresServer } from '../support/postgres-server.ts'
import type { Plan, Result } from './scenario.ts'
import * as scenarios from './scenarios.ts'
import { summaryOf } from './summary.ts'

const USAGE = `usage: npm run chaos -- [scenario…] [--kills N] [--seed N] [--keep DIR]`

interface Entry {
  /** Faults when nobody says how many. */
  readonly faults: number
  play(server: () => Promise<PostgresServer>, plan: Plan): Promise<Result>
}

const ENTRIES: Readonly<Record<string, Entry>> = {
  'sqlite-kills': { faults: 500, play: (_, plan) => scenarios.sqliteKills(plan) },
  'postgres-kills': {
    faults: 500,
    play: async (server, plan) => scenarios.postgresKills(await server(), plan),
  },
  'postgres-restarts': {
    faults: 20,
    play: async (server, plan) => scenarios.postgresRestarts(await server(), plan),
  },
  'postgres-cuts': {
    faults: 500,
    play: async (server, plan) => scenarios.postgresCuts(await server(), plan),
  },
}

/** The long version of the chaos tests. */
const { values, positionals } = readOptions(USAGE, {
  kills: { type: 'string' },
  seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  keep: { type: 'string' },
})
const names = positionals.length > 0 ? positionals : Object.keys(ENTRIES)
const stranger = names.find((name) => !Object.hasOwn(ENTRIES, name))
if (stranger !== undefined) {
  console.error(`no scenario ${stranger}; one of ${Object.keys(ENTRIES).join(', ')}`)
  process.exit(2)
}

let postgres: Promise<PostgresServer> | undefined
try {
  for (const name of names) await playOne(name, ENTRIES[name] as Entry)
} finally {
  await (await postgres)?.stop('immediate')
}

async function playOne(name: string, entry: Entry): Promise<void> {
  const seed = Number(values.seed)
  const keep = values.keep === undefined ? undefined : join(values.keep, name)
  if (keep !== undefined) mkdirSync(keep, { recursive: true })
  console.log(`${name}, seed ${seed}`)
  const startedMs = performance.now()
  const result = await entry.play(() => (postgres ??= startPostgres()), {
    seed,
    keep,
    faults: Number(values.kills ?? entry.faults),
    say(line) {
      console.log(`  ${((performance.now() - startedMs) / 1_000).toFixed(0)} s: ${line}`)
    },
  })
  console.log(summaryOf(result))
  if (result.violations.length > 0) {
    console.log(`  again: npm run chaos -- ${name} --seed ${seed}`)
    process.exitCode = 1
  }
}
